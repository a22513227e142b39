; What JavaScript says in another way than TypeScript.

(class_heritage (expression) @base)
