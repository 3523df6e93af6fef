package pingloompages

import (
	"fmt"
	"os"
	"strings"
)

// The variables that OpenTelemetry's SDKs read, too.
const (
	attributesVariable = "OTEL_RESOURCE_ATTRIBUTES"
	serviceVariable    = "OTEL_SERVICE_NAME"
	maxAttributesBytes = 16384
)

// environment returns a variable, or "" in a program that runs with raised privileges: that one
// trusts no environment.
func environment(variable string) string {
	if os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() {
		return ""
	}
	return os.Getenv(variable)
}

// commonLabels are those that metrics have beside their own.
type commonLabels struct {
	application []label // registered with the agent, so every metric has them
	environment []label // each metric has as many of these as it has room for, the first ones first
}

// readAttributes reads `key=value,key=value`, percent-encoded. One entry that is malformed discards
// all, as OpenTelemetry demands. What pages do not take as a label is left out. The labels are in
// the order of the text, have different names, and are at most maxLabels.
func readAttributes(text string) ([]label, error) {
	if len(text) > maxAttributesBytes {
		return nil, badArgument(attributesVariable+" is ignored",
			fmt.Sprintf("it is longer than %d bytes", maxAttributesBytes))
	}
	var made []label
	for number, entry := range strings.Split(text, ",") {
		if entry = strings.Trim(entry, " \t"); entry == "" {
			continue
		}
		key, value, both := strings.Cut(entry, "=")
		key, rightKey := percentDecoded(strings.Trim(key, " \t"))
		value, rightValue := percentDecoded(strings.Trim(value, " \t"))
		if !both || !rightKey || !rightValue || key == "" {
			return nil, badArgument(attributesVariable+" is ignored",
				fmt.Sprintf("entry %d is no percent-encoded key=value", number+1))
		}
		made = keep(made, label{labelName(key), value})
	}
	return made, nil
}

// keep adds a label unless it is of no use. A later one of the same name replaces an earlier one,
// as in OpenTelemetry. An empty value is the same as no label to Prometheus, and summaries refuse
// their own label.
func keep(made []label, one label) []label {
	if !isLabelName(one.name) || one.name == "quantile" || one.value == "" || len(one.value) > maxLabelBytes || !isText(one.value) {
		return made
	}
	for i := range made {
		if made[i].name == one.name {
			made[i].value = one.value
			return made
		}
	}
	if len(made) == maxLabels {
		return made
	}
	return append(made, one)
}

// labelName turns a key into a label's name: k8s.pod.name becomes k8s_pod_name.
func labelName(key string) string {
	name := []byte(key)
	for i, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			name[i] = '_'
		}
	}
	return string(name)
}

// percentDecoded returns false if a percent sign is not followed by two hexadecimal digits.
func percentDecoded(text string) (string, bool) {
	var decoded []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			decoded = append(decoded, text[i])
			continue
		}
		if len(text)-i < 3 {
			return "", false
		}
		high, low := hexDigit(text[i+1]), hexDigit(text[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		decoded = append(decoded, byte(high*16+low))
		i += 2
	}
	return string(decoded), true
}

// hexDigit returns -1 if it is none.
func hexDigit(c byte) int {
	at := strings.IndexByte("0123456789abcdefABCDEF", c)
	if at >= 16 {
		at -= 6
	}
	return at
}

// addEnvironment returns the labels of a metric with those of the environment that it has room for.
// Labels of the same name that the metric or the application has win.
func (c commonLabels) addEnvironment(labels []label) []label {
	for _, one := range c.environment {
		if len(labels)+len(c.application) >= maxLabels {
			break
		}
		if !hasLabel(c.application, one.name) && !hasLabel(labels, one.name) {
			labels = append(labels, one)
		}
	}
	return labels
}

func hasLabel(labels []label, name string) bool {
	for _, one := range labels {
		if one.name == name {
			return true
		}
	}
	return false
}
