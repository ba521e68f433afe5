package layout

// PointsMax is the number of points after which Lines makes all further lines straight.
const PointsMax = 2_000_000

// Lines draws the lines of a picture, of which a dense graph has as many as it has pairs of nodes, each through all layers: they would take
// a thousand times the memory of the graph. Use one for each drawing.
type Lines struct {
	picture *Picture
	points  int // so far
}

// Lines returns the lines of a picture.
func (p *Picture) Lines() *Lines { return &Lines{picture: p} }

// Route is Picture.Route. Once the lines have PointsMax points, it returns only the first and the last: the line leads straight, across boxes.
func (l *Lines) Route(edge int) []Point {
	var line []Point
	if l.points < PointsMax {
		line = l.picture.Route(edge)
	} else {
		line = l.picture.straight(edge)
	}
	l.points += len(line)
	return line
}

// straight returns the first and the last point of an edge's line.
func (p *Picture) straight(edge int) []Point {
	pieces := p.piecesOf(edge)
	if len(pieces) == 0 {
		return nil
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	start, _ := p.levels[first.level].endsOf(p, first.link)
	_, end := p.levels[last.level].endsOf(p, last.link)
	return p.turned([]Point{start, end})
}

// turned exchanges the coordinates of a line if the picture leads to the right.
func (p *Picture) turned(line []Point) []Point {
	if p.direction == Right {
		for i := range line {
			line[i].X, line[i].Y = line[i].Y, line[i].X
		}
	}
	return line
}
