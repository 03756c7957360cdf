// Command checker decides whether histories of requests are linearizable. It reads one history of one user and one
// client on each line of the standard input, and writes one verdict on each line of the standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

type history struct {
	// The leeway and its tolerance, in microseconds.
	Leeway    int64 `json:"leeway"`
	Tolerance int64 `json:"tolerance"`
	// See `model`.
	Strict     bool        `json:"strict"`
	Operations []Operation `json:"operations"`
}

type verdict struct {
	// `ok`, `violation`, or `undecided` if the check took too long.
	Result string `json:"result"`
	// The authorization of the violation: the label of its code, or empty if it concerns the user alone.
	Of string `json:"of"`
	// The operations of the violation by their invocation, and the longest order that the contract allows.
	Operations []Operation `json:"operations,omitempty"`
	Longest    []Operation `json:"longest,omitempty"`
}

// A check of one authorization that takes longer is given up.
const limit = 30 * time.Second

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var given history
		if err := json.Unmarshal(line, &given); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := output.Encode(check(given)); err != nil {
			os.Exit(1)
		}
	}
}

// check checks each authorization with the operations on its user and its client. Most of an authorization's state does
// not depend on the other authorizations, so the search is short.
func check(given history) verdict {
	for i := range given.Operations {
		if given.Operations[i].Answer == "unknown" {
			given.Operations[i].Return = never
		}
	}
	sort.SliceStable(given.Operations, func(i, j int) bool { return given.Operations[i].Call < given.Operations[j].Call })
	result := verdict{Result: "ok"}
	for _, of := range authorizations(given.Operations) {
		rules := model{of: of, leeway: given.Leeway, tolerance: given.Tolerance, strict: given.Strict}
		part := concerning(of, given.Operations)
		operations := rules.asOperations(part)
		outcome := porcupine.CheckOperationsTimeout(rules.porcupine(), operations, limit)
		if outcome == porcupine.Illegal {
			_, info := porcupine.CheckOperationsVerbose(rules.porcupine(), operations, limit)
			return verdict{Result: "violation", Of: of, Operations: part, Longest: longest(info)}
		}
		if outcome == porcupine.Unknown {
			result = verdict{Result: "undecided", Of: of, Operations: part}
		}
	}
	return result
}

// authorizations returns the labels of all authorizations, and the empty label.
func authorizations(all []Operation) []string {
	labels := []string{""}
	seen := map[string]bool{"": true}
	for _, o := range all {
		if !seen[o.Of] {
			seen[o.Of] = true
			labels = append(labels, o.Of)
		}
	}
	return labels
}

// concerning returns the operations on an authorization, and the operations on its user and its client until the last
// of them.
func concerning(of string, all []Operation) []Operation {
	end := int64(never)
	if of != "" {
		end = 0
		for _, o := range all {
			if o.Of == of && o.Answer == "unknown" && o.Call > end {
				end = o.Call
			} else if o.Of == of && o.Answer != "unknown" && o.Return > end {
				end = o.Return
			}
		}
	}
	var part []Operation
	for _, o := range all {
		// The decision on the consent page also gives the consent for later authorizations.
		isAboutUser := (o.Of == "" || o.Do == "approve") && o.Of != of && o.Call <= end
		if isAboutUser && o.Return > end {
			// The response may depend on later operations, which are not part of this history.
			o.Answer, o.Return = "unknown", never
		}
		// A refused authorization request belongs to no authorization, and has no effect.
		if o.Of == of || (isAboutUser && o.Do != "authorize") {
			part = append(part, o)
		}
	}
	return part
}

func (m model) asOperations(part []Operation) []porcupine.Operation {
	var operations []porcupine.Operation
	for _, one := range part {
		for _, o := range m.decisions(one) {
			operations = append(operations, porcupine.Operation{Input: o, Call: o.Call, Return: o.Return})
		}
	}
	return operations
}

// longest returns the longest order of operations that the search found.
func longest(info porcupine.LinearizationInfo) []Operation {
	var found []Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			if len(order) > len(found) {
				found = found[:0]
				for _, one := range order {
					found = append(found, one.Input.(Operation))
				}
			}
		}
	}
	return found
}
