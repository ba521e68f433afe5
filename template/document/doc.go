// Package document reads YAML and JSON into nodes that know where they were written, refuses hostile input before it is
// decoded, and gives the errors that readers of documents report.
package document
