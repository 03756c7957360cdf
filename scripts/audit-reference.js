import { auditEvents } from '../src/model/audit-event.ts'

const head = `# The audit log

<!-- Written by \`npm run reference\` from src/model/audit-event.ts and scripts/audit-reference.js. Do not edit it by hand. -->

The purpose of the log, who can read it, and how code receives events: [Know what happened](../how-to/audit.md). The names
of events are stable.

| In code | As JSON | Meaning |
| --- | --- | --- |
| \`at\` | \`at\` | the time; in code milliseconds since the epoch, in JSON ISO 8601 in UTC |
| \`event\` | \`event\` | one of the events below |
| \`actor\` | \`actor\` | \`user\`; \`client\`, by its own request; \`command_line\`; \`system\`: code of the application, or the server itself; \`unknown\` |
| \`actorId\`, \`actorEmail\` | \`actor_id\`, \`actor_email\` | the user who performed the action |
| \`userId\`, \`userEmail\` | \`user_id\`, \`user_email\` | the user whom the event is about; for a client, its owner |
| \`clientId\` | \`client_id\` | the client that the event is about |
| \`tokenId\`, \`authorizationId\` | \`token_id\`, \`authorization_id\` | the IDs of rows, never a token |
| \`subject\` | \`subject\` | the name of the client or the personal token at that time |
| \`address\`, \`userAgent\` | \`address\`, \`user_agent\` | the address and the browser of the request; empty outside of requests |
| \`requestId\` | \`request_id\` | the request's \`X-Request-Id\` |
| \`isRoutine\` | \`is_routine\` | whether events of this kind are very frequent, so that users do not see them on their page |
| \`details\` | \`details\` | members that depend on the event |

## Events

| Event | Meaning | \`details\` |
| --- | --- | --- |
`

/** Returns the text of docs/reference/audit.md. */
export const auditReference = () =>
  head +
  Object.entries(auditEvents)
    .map(
      ([name, { sentence, details }]) =>
        `| \`${name}\` | ${sentence} | ${details.map((detail) => `\`${detail}\``).join(', ')} |\n`,
    )
    .join('')
