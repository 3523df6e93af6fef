package pingloompages

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestAttributesBecomeLabels(test *testing.T) {
	long := strings.Repeat("x", 129)
	for text, wanted := range map[string][]label{
		"": nil,
		"k8s.pod.name=shop-0,k8s.namespace.name=prod": {{"k8s_pod_name", "shop-0"}, {"k8s_namespace_name", "prod"}},
		" b =\t2 ,, a=1,":    {{"b", "2"}, {"a", "1"}},
		"a=x=y":              {{"a", "x=y"}},
		"a=%2c%3D%25%20":     {{"a", ",=% "}},
		"a%2eb-c=%C3%84":     {{"a_b_c", "Ä"}},
		"a=1+1":              {{"a", "1+1"}},
		"a.b=1,c=2,a_b=3":    {{"a_b", "3"}, {"c", "2"}},
		"le=1,__n=2,..x=3":   nil,
		"quantile=0.5":       nil,
		"1a=4,e=,c=%0A":      nil,
		"n=%00,u=%ff":        nil,
		long + "=5,last=6":   {{"last", "6"}},
		"v=" + long + long:   nil,
		"a=" + long + ",b=1": {{"a", long}, {"b", "1"}},
	} {
		if made, err := readAttributes(text); err != nil || !reflect.DeepEqual(made, wanted) {
			test.Errorf("%q: %v, %v", text, made, err)
		}
	}
	many := ""
	for i := 0; i < 100; i++ {
		many += fmt.Sprintf("l%d=v,", i)
	}
	if made, err := readAttributes(many); err != nil || len(made) != 16 || made[15].name != "l15" {
		test.Error(made, err)
	}
}

func TestAMalformedEntryDiscardsAllAttributes(test *testing.T) {
	longest := "a=1," + strings.Repeat(" ", maxAttributesBytes-4)
	if made, err := readAttributes(longest); err != nil || len(made) != 1 {
		test.Error(made, err)
	}
	for _, bad := range []string{"a", "a=1,b", "=1", " =1", "a=%", "a=%2", "a=%2,b=1", "a=%gg", "a=%-1", "a%=1",
		"a=1,b=%zz", longest + " "} {
		if made, err := readAttributes(bad); !errors.Is(err, ErrBadArgument) || made != nil {
			test.Errorf("%.20q: %v, %v", bad, made, err)
		}
	}
}

func TestTheEnvironmentGivesWay(test *testing.T) {
	common := commonLabels{[]label{{"common", "1"}}, []label{{"z", "e"}, {"own", "e"}, {"common", "e"}, {"a", "e"}}}
	made := common.addEnvironment([]label{{"own", "1"}})
	if !reflect.DeepEqual(made, []label{{"own", "1"}, {"z", "e"}, {"a", "e"}}) {
		test.Error(made)
	}
	many := make([]label, 14)
	for i := range many {
		many[i].name = fmt.Sprint("m", i)
	}
	if made := common.addEnvironment(many); len(made) != 15 || made[14].name != "z" {
		test.Error(made)
	}
	if made := common.addEnvironment(append(many, label{})); len(made) != 15 || made[14].name != "" {
		test.Error(made)
	}
}

func TestTheAgentIsToldTheEnvironment(test *testing.T) {
	test.Setenv("OTEL_RESOURCE_ATTRIBUTES", "pod=shop-0,own=env")
	test.Setenv("OTEL_SERVICE_NAME", "from-env")
	path := socketOf(test)
	agent := startAgent(test, path, nil)
	pages, err := Open(Options{Socket: path})
	if err != nil {
		test.Fatal(err)
	}
	defer pages.Close()
	full := Labels{}
	for i := 0; i < maxLabels; i++ {
		full[fmt.Sprint("l", i)] = ""
	}
	for _, metric := range []Metric{{Name: "some_total", Labels: Labels{"own": "1"}}, {Name: "full_total", Labels: full}} {
		if _, err := pages.Counter(metric); err != nil {
			test.Fatal(err)
		}
	}
	eventually(test, "the agent knows both", func() bool { return pages.Status().KnownMetrics == 2 })
	agent.mutex.Lock()
	defer agent.mutex.Unlock()
	var defined [][]byte
	for _, got := range agent.messages {
		if got.kind == typeRegister && !bytes.Equal(got.body, []byte("\x08from-env\x00")) {
			test.Errorf("%q", got.body)
		}
		if got.kind == typeDefine {
			defined = append(defined, got.body)
		}
	}
	if !bytes.HasSuffix(defined[0], []byte("\x03own\x01\x001\x03pod\x06\x00shop-0")) {
		test.Errorf("%q", defined[0])
	}
	if defined[1][9] != maxLabels || bytes.Contains(defined[1], []byte("shop-0")) {
		test.Errorf("%q", defined[1])
	}
}

func TestTheEnvironmentFillsNoGroup(test *testing.T) {
	test.Setenv("OTEL_RESOURCE_ATTRIBUTES", "a="+strings.Repeat("a", 250)+",b="+strings.Repeat("b", 250))
	pages := open(test, Options{Socket: socketOf(test)})
	group, _ := pages.NewGroup()
	help := strings.Repeat("x", 400)
	for round := 0; round < 2; round++ { // the second time all are there
		for i := 0; i < pageSlots; i++ {
			if _, err := pages.Counter(Metric{Name: fmt.Sprint("counter_", i), Help: help, Group: group}); err != nil {
				test.Fatal(i, err)
			}
		}
	}
	if _, err := pages.Counter(Metric{Name: "one_more", Group: group}); !errors.Is(err, ErrFull) {
		test.Error(err)
	}
	if status := pages.Status(); status.Metrics != pageSlots {
		test.Errorf("%+v", status)
	}
}

func TestAGivenNameWinsAndAMistakeInTheEnvironmentIsReported(test *testing.T) {
	test.Setenv("OTEL_RESOURCE_ATTRIBUTES", "pod")
	test.Setenv("OTEL_SERVICE_NAME", "from-env")
	path := socketOf(test)
	agent := startAgent(test, path, nil)
	pages := open(test, Options{Application: "given", Socket: path})
	eventually(test, "it is registered", func() bool { return pages.Status().Connected })
	if err := pages.Status().Err; !errors.Is(err, ErrBadArgument) || !strings.Contains(err.Error(), "entry 1") {
		test.Error(err)
	}
	agent.mutex.Lock()
	defer agent.mutex.Unlock()
	if !bytes.Equal(agent.messages[0].body, []byte("\x05given\x00")) {
		test.Errorf("%q", agent.messages[0].body)
	}
	test.Setenv("OTEL_SERVICE_NAME", "a\nb")
	other, err := Open(Options{Socket: path})
	if err != nil {
		test.Error("the program's name stands in for an invalid one", err)
	}
	other.Close()
}
