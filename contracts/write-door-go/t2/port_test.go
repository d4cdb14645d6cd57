package port

import "testing"

func TestParsePort(t *testing.T) {
	rows := []struct {
		name    string
		in      string
		want    int
		wantErr bool
	}{
		{name: "http", in: "80", want: 80},
		{name: "high", in: "65535", want: 65535},
		{name: "zero", in: "0", wantErr: true},
		{name: "text", in: "http", wantErr: true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := ParsePort(row.in)
			if (err != nil) != row.wantErr {
				t.Fatalf("%s: ParsePort(%q) gave the error %v, want an error: %t", row.name, row.in, err, row.wantErr)
			}
			if err == nil && got != row.want {
				t.Errorf("%s: ParsePort(%q) = %d, want %d", row.name, row.in, got, row.want)
			}
		})
	}
}
