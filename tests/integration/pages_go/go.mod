module pages_go

go 1.19

require pingloom/pingloompages v0.0.0

replace pingloom/pingloompages => ../../../go/pingloompages
