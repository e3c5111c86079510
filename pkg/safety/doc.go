// Package safety judges the text of a skill before anybody acts on it.
//
// It owns the table of rules, the scan over every text file of a folder, the
// policy that turns findings into a verdict, the cache of reports and their
// SARIF form. It does not parse skills, run anything, reach the network or
// change a folder; it only reads.
//
// A scan is a pure function of the texts, the policy and the table of rules:
// the same input gives the same report, in the same order. All functions may be
// called from several goroutines. Nothing is compiled before the first scan, so
// a program that links the package pays nothing when it starts.
//
// The rules, their severities and the reasons behind them stand in
// docs/safety-rules.md.
package safety
