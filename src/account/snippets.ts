/** A token request that a client sends with its ID and, if it is confidential, with its secret. */
export interface TokenRequestSample {
  /** The URL of the token endpoint. */
  readonly url: string
  readonly clientId: string
  /** The client secret or a placeholder; null for a public client. */
  readonly secret: string | null
  readonly fields: Readonly<Record<string, string>>
}

/** Returns a shell command that sends the request. */
export const curlSnippet = ({ url, clientId, secret, fields }: TokenRequestSample): string =>
  [
    'curl',
    ...(secret === null ? [] : [`-u ${inShell(`${clientId}:${secret}`)}`]),
    ...Object.entries(withId(fields, clientId, secret)).map(
      ([name, value]) => `--data-urlencode ${inShell(`${name}=${value}`)}`,
    ),
    inShell(url),
  ].join(' \\\n  ')

/** Returns a JavaScript program for Node.js that sends the request and prints the response. */
export const javaScriptSnippet = ({ url, clientId, secret, fields }: TokenRequestSample): string =>
  `const response = await fetch(${quoted(url)}, {
  method: "POST",${
    secret === null
      ? ''
      : `
  headers: { authorization: "Basic " + btoa(${quoted(`${clientId}:${secret}`)}) },`
  }
  body: new URLSearchParams({
${linesOf(withId(fields, clientId, secret), '    ')}
  }),
})
console.log(await response.json())`

/** Returns a Python program that sends the request with the standard library and prints the response. */
export const pythonSnippet = ({ url, clientId, secret, fields }: TokenRequestSample): string =>
  `import base64, json
from urllib.parse import urlencode
from urllib.request import Request, urlopen

fields = {
${linesOf(withId(fields, clientId, secret), '    ')}
}
request = Request(${quoted(url)}, urlencode(fields).encode())${
    secret === null
      ? ''
      : `
credentials = base64.b64encode(${quoted(`${clientId}:${secret}`)}.encode()).decode()
request.add_header("Authorization", "Basic " + credentials)`
  }
print(json.load(urlopen(request)))`

/** Quotes a text as one argument for a POSIX shell. */
export const inShell = (text: string): string =>
  /^[A-Za-z0-9_./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

// A public client has no secret, so its request contains the client ID as a field.
const withId = (
  fields: TokenRequestSample['fields'],
  clientId: string,
  secret: string | null,
): TokenRequestSample['fields'] => (secret === null ? { client_id: clientId, ...fields } : fields)

// The texts contain only printable ASCII characters. For such texts, JavaScript, Python and JSON have the same string
// literals.
const quoted = (text: string): string => JSON.stringify(text)

const linesOf = (fields: TokenRequestSample['fields'], indent: string): string =>
  Object.entries(fields)
    .map(([name, value]) => `${indent}${quoted(name)}: ${quoted(value)},`)
    .join('\n')
