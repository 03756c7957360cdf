/** A case, and the outcome at each server; null if it has no such endpoint. */
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
        ...theirs.map((answer) => (answer === null ? '–' : answer === ours ? 'same' : answer)),
        ...(hasReason ? [reason] : []),
      ]),
    ),
  ].join('\n')

/** The page of the documentation. */
export const pageOf = (compared: readonly Compared[], names: readonly string[]): string => {
  const differing = compared.filter(({ differs }) => differs)
  const same = compared.filter(({ differs }) => !differs)
  return `# Differences from other libraries

The same ${compared.length} requests were sent to this library and to two others, as each is by default: in ${same.length} cases
the answers are the same, in ${differing.length} at least one differs. This page is written by \`npm run test:differential\`
([how](../../test/differential/main.ts)), which fails where a difference has no reason.

An answer of the authorization endpoint is what became of the browser: a redirect to the client, or "refused here", which is
a page, a view or JSON of the server itself. An answer of the other endpoints is its status and error code. "–" says that a
library has no such endpoint: @node-oauth/oauth2-server leaves those to its users.

## Where an answer differs

${tableOf(differing, names, true)}

## Where all answer the same

${tableOf(same, names, false)}
`
}
