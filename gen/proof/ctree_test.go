// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// warnings are those that users of the C code may have turned on.
const warnings = "-std=c11 -O0 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"

// sanitizers find reads beyond the packet.
const sanitizers = "-fsanitize=address,undefined -fno-sanitize-recover=all"

// buildC makes one program of the C code of all subjects. It is asked with the subject's name as its first argument.
func buildC(dir string, all []*subject, flags string) (string, error) {
	dir = filepath.Join(dir, "c")
	var files []gen.File
	var declared, cases strings.Builder
	args := append(strings.Fields(warnings), strings.Fields(flags)...)
	args = append(args, "-Iinclude", "-o", "asked", "main.c")
	for _, s := range all {
		if s.cRefused != nil {
			continue
		}
		for _, f := range s.cFiles {
			if f.Path = strings.Replace(f.Path, "tests/dump.gen.c", "dump_"+s.name+".h", 1); strings.HasPrefix(f.Path, "src/") {
				args = append(args, f.Path)
			}
			files = append(files, f)
		}
		wrap := fmt.Sprintf("#define main main_%s\nint main_%s(int argc, char **argv);\n#include \"dump_%s.h\"\n", s.name, s.name, s.name)
		files = append(files, gen.File{Path: "ask_" + s.name + ".c", Data: []byte(wrap)})
		args = append(args, "ask_"+s.name+".c")
		fmt.Fprintf(&declared, "int main_%s(int argc, char **argv);\n", s.name)
		fmt.Fprintf(&cases, "    if (argc > 1 && strcmp(argv[1], \"%s\") == 0) {\n        return main_%s(argc - 1, argv + 1);\n    }\n", s.name, s.name)
	}
	main := fmt.Sprintf("#include <string.h>\n%s\nint main(int argc, char **argv)\n{\n%s    return argc == 0 && argv == NULL ? 1 : 2;\n}\n", declared.String(), cases.String())
	files = append(files, gen.File{Path: "main.c", Data: []byte(main)})
	if err := writeFiles(dir, files); err != nil {
		return "", err
	}
	return filepath.Join(dir, "asked"), command(dir, "gcc", args...)
}
