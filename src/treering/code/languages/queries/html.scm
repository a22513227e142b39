; Elements with an id, and the files that a page loads.
(attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name) (#eq? @_id "id")) @constant
(attribute (attribute_name) @_link (quoted_attribute_value (attribute_value) @import) (#any-of? @_link "src" "href"))
