package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// money formats US dollars: with cents below 10,000, whole above.
func money(v float64) string {
	switch {
	case v < 0:
		return "-" + money(-v)
	case v > 0 && v < 0.005:
		return "<$0.01"
	case v >= 10_000:
		return "$" + grouped(int64(math.Round(v)))
	default:
		cents := int64(math.Round(v * 100))
		return fmt.Sprintf("$%s.%02d", grouped(cents/100), cents%100)
	}
}

// tokens formats a count in three digits or so: 950, 12.3k, 1.2M, 3.4B.
func tokens(n int64) string {
	v := float64(n)
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "B"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= 0.9995*unit.size {
			return scaled(v/unit.size) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

func scaled(v float64) string {
	if v < 99.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// grouped formats a whole number with commas.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent formats a share of 1.
func percent(v float64) string {
	switch p := v * 100; {
	case p > 0 && p < 0.5:
		return "<1 %"
	case p > 99.5 && p < 100:
		return ">99 %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// count formats a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}

// known formats a figure that may be missing.
func known[T any](v *T, format func(T) string) string {
	if v == nil {
		return "–"
	}
	return format(*v)
}

// factor formats how many times over something happened.
func factor(v float64) string { return strings.TrimSuffix(scaled(v), ".0") + "×" }
