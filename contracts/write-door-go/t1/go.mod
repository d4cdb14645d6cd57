module writ.example/clamp

go 1.20
