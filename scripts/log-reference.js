import { events } from '../src/server/telemetry/events.ts'

const head = `# The log

<!-- Written by \`npm run reference\` from src/server/telemetry/events.ts and scripts/log-reference.js. Do not edit it by hand. -->

The destination and the minimum level: [Seeing it run](../how-to/observability.md). The names of events are stable;
messages are for people and may change. No entry contains a secret: no token, code, password, cookie, key, \`state\`,
address or query of a request.

| Member | Meaning |
| --- | --- |
| \`level\` | \`debug\`, \`info\`, \`warn\` or \`error\` |
| \`time\` | ISO 8601 in UTC; only in the default log, like \`pid\` and \`hostname\` |
| \`event\` | one of the events below |
| \`message\` | a sentence |
| \`requestId\` | the ID of the request to the server, for entries that a request caused |
| \`traceId\` | the ID of the OpenTelemetry trace; omitted without a trace |
| \`error\`, \`cause\` | \`name\`, \`stack\` and \`cause\` of an error |
| others | IDs: \`tokenId\`, \`clientId\`, \`userId\`, \`authorizationId\`; for \`http.request\` also \`method\`, \`route\`, \`status\` and \`milliseconds\` |

## Events

| Event | Level | Meaning |
| --- | --- | --- |
`

/** Returns the text of docs/reference/log.md. */
export const logReference = () =>
  head +
  Object.entries(events)
    .map(([name, { levels, sentence }]) => `| \`${name}\` | ${levels.join(', ')} | ${sentence} |\n`)
    .join('')
