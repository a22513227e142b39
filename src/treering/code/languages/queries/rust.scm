; Functions that common test runners collect: #[test], #[tokio::test], #[rstest], …
((attribute_item
   (attribute [(identifier) @name (scoped_identifier name: (identifier) @name)])) @test
 (#any-of? @name
   "test" "bench" "rstest" "test_case" "proptest" "quickcheck" "wasm_bindgen_test" "test_log" "parameterized"))

; Main functions wrapped by a runtime: #[tokio::main], #[actix_web::main], #[entry]
((attribute_item
   (attribute [(identifier) @name (scoped_identifier name: (identifier) @name)])) @main
 (#any-of? @name "main" "entry" "launch"))

; Commands that a host application calls by name: #[tauri::command]
((attribute_item
   (attribute [(identifier) @name (scoped_identifier name: (identifier) @name)])) @command
 (#any-of? @name "command"))

; HTTP handlers in actix-web, rocket, poem: #[get("/users")]
((attribute_item
   (attribute
     [(identifier) @name (scoped_identifier name: (identifier) @name)]
     arguments: (token_tree (string_literal)))) @route
 (#any-of? @name "get" "post" "put" "delete" "patch" "head" "options" "trace" "connect" "route" "oai" "handler"))

; HTTP handlers in axum: .route("/users", get(list).post(create))
((call_expression
   function: (field_expression field: (field_identifier) @name)
   arguments: (arguments . (string_literal) . (call_expression) @handler))
 (#any-of? @name "route"))
