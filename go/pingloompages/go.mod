module pingloom/pingloompages

go 1.19
