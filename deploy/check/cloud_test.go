package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// parsed is a file of Terraform.
func parsed(t *testing.T, name string) *hclsyntax.Body {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "cloud", name))
	if err != nil {
		t.Fatal(err)
	}
	file, diagnostics := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics)
	}
	return file.Body.(*hclsyntax.Body)
}

// blocks are the labels of those of a type.
func blocks(body *hclsyntax.Body, kind string) (labels []string) {
	for _, b := range body.Blocks {
		if b.Type == kind {
			labels = append(labels, strings.Join(b.Labels, "."))
		}
	}
	return labels
}

// The files for Terraform parse, and name only variables that they have: of the machines of a region, the
// module sets all. Whether a cloud accepts them is not tested: the types of resources are the provider's.
func TestTerraform(t *testing.T) {
	main, region := parsed(t, "main.tf"), parsed(t, "region/main.tf")
	for name, body := range map[string]*hclsyntax.Body{"main.tf": main, "region/main.tf": region} {
		declared := blocks(body, "variable")
		used := map[string]bool{}
		_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
			if e, ok := n.(hclsyntax.Expression); ok {
				for _, v := range e.Variables() {
					if v.RootName() == "var" {
						used[v[1].(hcl.TraverseAttr).Name] = true
					}
				}
			}
			return nil
		})
		for v := range used {
			if !slices.Contains(declared, v) {
				t.Errorf("%s: there is no variable %q (has %v)", name, v, declared)
			}
		}
		for _, v := range declared {
			if !used[v] {
				t.Errorf("%s: variable %q is not used", name, v)
			}
		}
	}
	modules := 0
	for _, b := range main.Blocks {
		if b.Type != "module" {
			continue
		}
		modules++
		for _, v := range blocks(region, "variable") {
			if b.Body.Attributes[v] == nil {
				t.Errorf("module %v does not set %q", b.Labels, v)
			}
		}
	}
	if modules != 3 {
		t.Errorf("there are %d regions", modules)
	}
}

// TestUserData: the configuration of a machine, as templatefile of Terraform fills it in. With the variable
// CONCLAVE_USER_DATA it is written to that file, for cloud-init to check.
func TestUserData(t *testing.T) {
	text, err := os.ReadFile("../cloud/user-data.yaml")
	if err != nil {
		t.Fatal(err)
	}
	template, diagnostics := hclsyntax.ParseTemplate(text, "user-data.yaml", hcl.InitialPos)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics)
	}
	value, diagnostics := template.Value(&hcl.EvalContext{Functions: map[string]function.Function{},
		Variables: map[string]cty.Value{"join": cty.StringVal("hub.example.org:7000#TOKEN"),
			"bench": cty.StringVal("https://example.org/bench"), "sha256": cty.StringVal(strings.Repeat("0", 64)),
			"hours": cty.NumberIntVal(2)}})
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics)
	}
	out := value.AsString()
	for _, want := range []string{`[shutdown, --poweroff, "+120"]`, "exec ./bench join 'hub.example.org:7000#TOKEN' --idle 10m"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if file := os.Getenv("CONCLAVE_USER_DATA"); file != "" {
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
