package page

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestLeanScriptsMeanTheSame(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"const a = 1; // one\nconst b = a + 1;\n", "const a=1;const b=a+1;"},
		{"// what it is\nlet a = { b: [1, 2] };\n", "let a={b:[1,2]};"},
		{"a = b + +c - -d;\n", "a=b+ +c- -d;"},
		{"const t = \"a  //  b { c }\" + 'it\\'s  so';\n", "const t=\"a  //  b { c }\"+'it\\'s  so';"},
		{"const t = `a  b ${ f({ c: `d  ${e}` }) } // g`;\n", "const t=`a  b ${f({c:`d  ${e}`})} // g`;"},
		{"const t = s.replace(/[/ ]  \\/ \"/g, \"\") / 2 / x;\n", "const t=s.replace(/[/ ]  \\/ \"/g,\"\")/ 2 / x;"},
		{"return\na\nfoo()\n(b)\n", "return\na\nfoo()\n(b)"},
		{"if (a in b) return typeof c === d ? e : f;\n", "if(a in b)return typeof c===d?e:f;"},
	} {
		require.Equal(t, test.want, string(lean("a.js", []byte(test.script))))
	}
	require.Equal(t, "a>b,c{color:red;margin:0 1px}\n", string(lean("a.css", []byte("/* all */\na > b, c { color: red; margin: 0 1px; }\n"))))
}

func TestModulesAreSentAsOne(t *testing.T) {
	files := fstest.MapFS{
		"app.js":  {Data: []byte("import { html } from \"./ui.js\";\nimport { a as b } from \"./v/a.js\";\nimport \"./c.js\";\nhtml(b);\n")},
		"v/a.js":  {Data: []byte("import { c } from \"../c.js\";\nexport const a = c();\nexport async function d() {}\n")},
		"c.js":    {Data: []byte("export function c() {}\n")},
		"loop.js": {Data: []byte("import { app } from \"./app.js\";\n")},
	}
	script, within, err := bundled(files)
	require.NoError(t, err)
	require.Len(t, within, 3)
	require.Equal(t, `import * as m0 from "./ui.js";
const m1 = (() => {
function c() {}

return { c };
})();
const m2 = (() => {
const { c } = m1;
const a = c();
async function d() {}

return { a, d };
})();
const m3 = (() => {
const { html } = m0;
const { a: b } = m2;
html(b);

return {  };
})();
`, string(script))

	files["c.js"] = &fstest.MapFile{Data: []byte("import { app } from \"./loop.js\";\n")}
	_, _, err = bundled(files)
	require.EqualError(t, err, "app.js imports itself by way of others")
	delete(files, "loop.js")
	_, _, err = bundled(files)
	require.ErrorContains(t, err, "loop.js")
}
