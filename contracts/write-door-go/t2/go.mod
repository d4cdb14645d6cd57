module writ.example/port

go 1.20
