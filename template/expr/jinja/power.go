package jinja

import (
	"math"
	"math/big"
)

// powerOfFloat returns x ** y.
func powerOfFloat(x, y float64) (any, error) {
	switch {
	case x == 0 && y < 0:
		return nil, errZero
	case x < 0 && y != math.Trunc(y) && !math.IsInf(x, 0):
		return nil, errComplex
	}
	rough := math.Pow(x, y)
	if math.IsInf(rough, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return nil, errOverflow
	}
	if rough == 0 || rough == 1 || math.IsInf(rough, 0) || math.IsNaN(rough) {
		return rough, nil
	}
	f := accurate(x, y)
	if math.IsInf(f, 0) {
		return nil, errOverflow
	}
	return f, nil
}

// precision is the precision of accurate, in bits: twice that of a float, and some for rounding errors.
const precision = 128

// accurate returns x ** y correctly rounded, which math.Pow does only in every second case, and differently on different
// machines. x must not be zero, y must be whole if x is negative, and the result must be near the range of floats.
func accurate(x, y float64) float64 {
	if y == math.Trunc(y) && math.Abs(y) <= 1024 {
		out := repeated(newFloat(x), int(math.Abs(y)))
		if y < 0 {
			out.Quo(newFloat(1), out)
		}
		f, _ := out.Float64()
		return f
	}
	exponent := logarithm(math.Abs(x))
	out, _ := exponential(exponent.Mul(exponent, newFloat(y))).Float64()
	if x < 0 && math.Mod(y, 2) != 0 {
		return -out
	}
	return out
}

func newFloat(f float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(f) }

// repeated returns the n-th power of x.
func repeated(x *big.Float, n int) *big.Float {
	out := newFloat(1)
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			out.Mul(out, x)
		}
		x = newFloat(0).Mul(x, x)
	}
	return out
}

var ln2, _ = new(big.Float).SetPrec(precision).SetString("0.693147180559945309417232121458176568075500134360255254120680")

// logarithm returns the natural logarithm: with x = m · 2^e and m near 1, ln x = ln m + e · ln 2, and ln m = 2 · artanh((m - 1) / (m + 1)).
func logarithm(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	near := newFloat(m)
	z := newFloat(0).Quo(newFloat(0).Sub(near, newFloat(1)), near.Add(near, newFloat(1)))
	square, power := newFloat(0).Mul(z, z), z.Add(z, z)
	out := newFloat(0).Mul(ln2, newFloat(float64(e)))
	for i := 1; power.Sign() != 0 && power.MantExp(nil) > -precision; i += 2 {
		out.Add(out, newFloat(0).Quo(power, newFloat(float64(i))))
		power.Mul(power, square)
	}
	return out
}

// exponential is e^x: with x = k · ln 2 + 256 · s and s small, e^x = (e^s)^256 · 2^k.
func exponential(x *big.Float) *big.Float {
	const halvings = 8
	k, _ := newFloat(0).Quo(x, ln2).Float64()
	k = math.Round(k)
	s := newFloat(0).Sub(x, newFloat(0).Mul(ln2, newFloat(k)))
	s.SetMantExp(s, -halvings)
	sum, term := newFloat(1), newFloat(1)
	for i := 1; term.Sign() != 0 && term.MantExp(nil) > -precision; i++ {
		term.Mul(term, s)
		term.Quo(term, newFloat(float64(i)))
		sum.Add(sum, term)
	}
	return sum.SetMantExp(repeated(sum, 1<<halvings), int(k))
}
