module github.com/sluiceflow/sluice/docs

go 1.26.0
