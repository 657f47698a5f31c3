// SPDX-License-Identifier: Apache-2.0

package gen

import ("testing";"os";"time";"fmt")

func TestSmoke(t *testing.T){
 s:=time.Now()
 p,err:=Load("../schema/metaroce.mrs")
 t.Log(time.Since(s))
 if err!=nil { t.Fatal(err) }
 _ = os.Stdout
 fmt.Println(p.WireHash)
 for _,s:=range p.Structs { fmt.Printf("%s [%d..%d] greedy=%v fixed=%v params=%d\n", s.Name.Schema,s.Min,s.Max,s.Greedy,s.FixedSize,len(s.Params)); dump(s.Steps,"  ") }
}
func dump(steps []Step, in string){
 for _,s:=range steps { switch s:=s.(type){
 case *Run: fmt.Printf("%sRun %d:",in,s.Size); for _,p:=range s.Parts{fmt.Printf(" %s@%d",p.Item.Name.Schema,p.Bit)}; fmt.Println(); dc(s.Checks,in)
 case *Verify: fmt.Println(in+"Verify"); dc(s.Checks,in)
 case *Branch: fmt.Println(in+"Branch",key(s.Cond)); dump(s.Then,in+"  "); if s.Else!=nil {fmt.Println(in+"else"); dump(s.Else,in+"  ")}
 case *Call: fmt.Println(in+"Call",s.Item.Name.Schema,s.Windowed,s.Reserve)
 case *Take: fmt.Println(in+"Take",s.Item.Name.Schema,s.Reserve)
 case *Repeat: fmt.Println(in+"Repeat",s.Item.Name.Schema,s.Item.Array.Solve,s.Reserve)
 case *Elements: fmt.Println(in+"Elements",s.Item.Name.Schema,s.Reserve)
 case *Choose: fmt.Println(in+"Choose",s.Item.Switch.Selector,s.Reserve); for _,a:=range s.Item.Switch.Arms { fmt.Println(in+" arm",a.Name.Schema,a.Labels,structName(a.Struct),len(a.Args),a.Reject) }
 }}
}
func dc(cs []*Check,in string){ for _,k:=range cs { fmt.Println(in+"  check",k.Code.Name,k.Item,k.Bit,key(k.Hold)) } }
