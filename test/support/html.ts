const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

/** Replaces character references, as a browser does. */
export const unescaped = (html: string): string =>
  html.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity)

/**
 * Returns the tags of a page with the names of their attributes, without any text. Pages that differ only in their data
 * have equal skeletons. Text that is not escaped correctly adds a tag or a name.
 */
export const skeleton = (html: string): readonly string[] =>
  [...html.matchAll(/<(?:"[^"]*"|[^">])*>?/g)].map(([tag]) => tag.replaceAll(/="[^"]*"/g, '='))

/** Returns the visible text of a page: one line for each text between tags. */
export const shownText = (html: string): readonly string[] =>
  (/<body>[\s\S]*<\/body>/.exec(html)?.[0] ?? '')
    .split(/<(?:"[^"]*"|[^">])*>/)
    .map((text) => unescaped(text).trim())
    .filter((text) => text !== '')

/**
 * Texts with markup, quotes, comments and delimiters of template engines. Pages must display these texts unchanged. No
 * text has more than 40 characters, the maximum length of a name.
 */
export const hostileTexts: readonly string[] = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'-alert(1)-'",
  "' onmouseover='alert(1)",
  '" autofocus onfocus="alert(1)',
  '</title><svg/onload=alert(1)>',
  '</main></body></html>',
  '<!--',
  ']]>',
  '<base href=//evil.example>',
  '&lt;b&gt; &amp;amp; &#60;',
  '{{7*7}}',
  '{{constructor.constructor("x")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression that must not be evaluated
  '${7*7}',
  '#{7*7}',
  '<%= 7*7 %>',
  'javascript:alert(1)',
  '\\u003cscript\\u003e',
]
