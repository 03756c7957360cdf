/** What docs/reference/log.md says, from the events in src/server/telemetry/events.ts. */
import { events } from '../src/server/telemetry/events.ts'

const head = `# The log

<!-- Written by \`npm run reference\` from src/server/telemetry/events.ts and scripts/log-reference.js. Do not edit it by hand. -->

Where it goes, and from which level on: [Seeing it run](../how-to/observability.md). Events keep their names; messages are
for people, and change. No entry has a secret in it: no token, code, password, cookie, key, \`state\`, address or query of
a request.

| Member | What it is |
| --- | --- |
| \`level\` | \`debug\`, \`info\`, \`warn\` or \`error\` |
| \`time\` | ISO 8601 in UTC; with \`pid\` and \`hostname\`, of the default log alone |
| \`event\` | one of those below |
| \`message\` | a sentence |
| \`requestId\` | the request that it was written for, where that was one to an address of the server |
| \`traceId\` | the trace of OpenTelemetry, where there is one |
| \`error\`, \`cause\` | \`name\`, \`stack\` and \`cause\` of an error |
| others | ids: \`tokenId\`, \`clientId\`, \`userId\`, \`authorizationId\`; of \`http.request\` \`method\`, \`route\`, \`status\` and \`milliseconds\` |

## Events

| Event | Level | What it tells |
| --- | --- | --- |
`

/** The text of docs/reference/log.md. */
export const logReference = () =>
  head +
  Object.entries(events)
    .map(([name, { levels, sentence }]) => `| \`${name}\` | ${levels.join(', ')} | ${sentence} |\n`)
    .join('')
