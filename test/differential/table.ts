/** A case with the outcome at each server. An outcome is null if the server does not have the endpoint. */
export interface Compared {
  readonly id: string
  readonly rule: string
  readonly what: string
  readonly ours: string
  readonly theirs: readonly (string | null)[]
  readonly differs: boolean
  readonly reason: string | undefined
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`

const tableOf = (rows: readonly Compared[], names: readonly string[], hasReason: boolean): string =>
  [
    row(['Case', 'Rule', ...names, ...(hasReason ? ['Why'] : [])]),
    row(['---', '---', ...names.map(() => '---'), ...(hasReason ? ['---'] : [])]),
    ...rows.map(({ id, rule, what, ours, theirs, reason = '**not explained**' }) =>
      row([
        `${id}: ${what}`,
        rule,
        ours,
        ...theirs.map((response) =>
          response === null ? '–' : response === ours ? 'same' : response,
        ),
        ...(hasReason ? [reason] : []),
      ]),
    ),
  ].join('\n')

/** Returns the text of docs/security/differences.md. */
export const pageOf = (compared: readonly Compared[], names: readonly string[]): string => {
  const differing = compared.filter(({ differs }) => differs)
  const same = compared.filter(({ differs }) => !differs)
  return `# Differences from other libraries

The same ${compared.length} requests were sent to this library and to two other libraries, each with its default settings. In ${same.length} cases,
all responses are the same. In ${differing.length} cases, at least one response differs. [A script](../../test/differential/main.ts) writes this page
(\`npm run test:differential\`), and fails if a difference has no explanation.

For the authorization endpoint, the tables show the result in the browser: a redirect to the client, or "refused here", which is
a page or a JSON response of the server. For other endpoints, the tables show the status and the error code. "–" means that the
library does not implement the endpoint: users of @node-oauth/oauth2-server must implement some endpoints themselves. "same" means the
same result as with svc-oauth2server.

## Different responses

${tableOf(differing, names, true)}

## Equal responses

${tableOf(same, names, false)}
`
}
