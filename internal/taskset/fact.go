package taskset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
)

// The kinds of facts.
const (
	kindWord   = "word"   // letters, a dash and digits
	kindNumber = "number" // five digits
	kindHex    = "hex"    // twelve digits of the base 16
	kindHanzi  = "hanzi"  // four Chinese characters
)

func factKinds() []string { return []string{kindWord, kindNumber, kindHex, kindHanzi} }

// placeOf is what a fact's value is put in the place of.
func placeOf(name string) string { return "{{" + name + "}}" }

// chance is a source of values that follows from a seed and names.
func chance(seed uint64, names ...string) *rand.Rand {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	return rand.New(rand.NewPCG(seed, binary.LittleEndian.Uint64(sum[:8])))
}

// value is that of a fact of a task.
func (f fact) value(task string, seed uint64) string {
	r := chance(seed, task, f.name)
	switch f.kind {
	case kindNumber:
		return fmt.Sprintf("%d", 10_000+r.IntN(90_000))
	case kindHex:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], r.Uint64())
		return hex.EncodeToString(b[:6])
	case kindHanzi:
		return pick(r, []rune("山河湖海云松竹梅兰石泉月星风雪舟桥塔林原谷溪岛峰"), 4)
	default:
		return pick(r, []rune("bdfgklmnprst"), 1) + pick(r, []rune("aeiou"), 1) + pick(r, []rune("bdfgklmnprst"), 1) +
			pick(r, []rune("aeiou"), 1) + pick(r, []rune("bdfgklmnprst"), 1) + fmt.Sprintf("-%d", 100+r.IntN(900))
	}
}

func pick(r *rand.Rand, from []rune, n int) string {
	out := make([]rune, n)
	for i := range out {
		out[i] = from[r.IntN(len(from))]
	}
	return string(out)
}

// text is a file that says nothing of any task. No two are alike.
func (f fill) text(r *rand.Rand, words string, number int) string {
	return fmt.Sprintf(grammarOf(words).head, number) + filler(r, words, f.lines)
}

// filler is so many lines that say nothing of any task.
func filler(r *rand.Rand, words string, lines int) string {
	from := grammarOf(words)
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, from.line, pickOf(r, from.who), pickOf(r, from.did), 2+r.IntN(97), pickOf(r, from.what), pickOf(r, from.where))
	}
	return b.String()
}

func pickOf(r *rand.Rand, from string) string {
	list := strings.Fields(from)
	return strings.ReplaceAll(list[r.IntN(len(list))], "_", " ")
}

// A grammar is of what the lines of such a file are made.
type grammar struct{ head, line, who, did, what, where string }

func grammarOf(words string) grammar {
	if words == "zh" {
		return chinese()
	}
	return english()
}

func english() grammar {
	return grammar{
		head: "# Day %d\n\n", line: "- %s %s %d %s at %s.\n",
		who:   "Anna Boris the_night_shift Clara the_inspector Dmitri the_ferry_crew Elif the_foreman Farid Greta the_apprentice Hugo the_weather_service",
		did:   "counted unloaded repaired ordered returned weighed painted inspected lost found sold stacked",
		what:  "crates barrels ropes lanterns sacks_of_barley boards windows oars hinges_of_brass copper_pipes blankets kettles ledgers anchors",
		where: "the_north_pier the_mill the_old_station gate_seven the_market the_harbour_office the_upper_lock the_chapel the_boathouse the_quarry",
	}
}

func chinese() grammar {
	return grammar{
		head: "# 第%d天\n\n", line: "- %s%s了%d%s，地点是%s。\n",
		who:   "安娜 值班员 船队 检查员 老王 小李 木匠 厨师 门卫 学徒 会计",
		did:   "清点 卸下 修理 订购 退回 称重 粉刷 检查 丢失 找到 卖出",
		what:  "只箱子 个木桶 根绳子 盏灯 袋大麦 块木板 扇窗户 支船桨 条毯子 把水壶 本账簿",
		where: "北码头 磨坊 旧车站 七号门 集市 港务处 上闸口 小教堂 船库 采石场",
	}
}
