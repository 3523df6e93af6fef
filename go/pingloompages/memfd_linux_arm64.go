package pingloompages

const sysMemfdCreate = 279
