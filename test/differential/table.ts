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

The same ${compared.length} requests were sent to this library and to two others, each with its default settings. In ${same.length} cases
all answers are the same, in ${differing.length} at least one differs. \`npm run test:differential\` writes this page
([how](../../test/differential/main.ts)), and fails if a difference has no reason.

For the authorization endpoint, the tables show the result in the browser: a redirect to the client, or "refused here", which is
a page or JSON of the server itself. For other endpoints, they show the status and error code. "–" means that the
library does not implement the endpoint: @node-oauth/oauth2-server leaves some endpoints to its users.

## Different answers

${tableOf(differing, names, true)}

## Equal answers

${tableOf(same, names, false)}
`
}
