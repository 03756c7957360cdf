/** What docs/reference/audit.md says, from the events in src/model/audit-event.ts. */
import { auditEvents } from '../src/model/audit-event.ts'

const head = `# The audit log

<!-- Written by \`npm run reference\` from src/model/audit-event.ts and scripts/audit-reference.js. Do not edit it by hand. -->

What it is for, who sees it, and how code hears of it: [Know what happened](../how-to/audit.md). Events keep their names.

| In code | As JSON | What it is |
| --- | --- | --- |
| \`at\` | \`at\` | when; in code milliseconds since the epoch, in JSON ISO 8601 in UTC |
| \`event\` | \`event\` | one of those below |
| \`actor\` | \`actor\` | \`user\`; \`client\`, by a request of its own; \`command_line\`; \`system\`: code of the application, or the server by itself; \`unknown\` |
| \`actorId\`, \`actorEmail\` | \`actor_id\`, \`actor_email\` | the user who did it |
| \`userId\`, \`userEmail\` | \`user_id\`, \`user_email\` | the user whom it is about; of a client its owner |
| \`clientId\` | \`client_id\` | the client that it is about |
| \`tokenId\`, \`authorizationId\` | \`token_id\`, \`authorization_id\` | the ids of rows, never a value |
| \`subject\` | \`subject\` | the name of the client or the personal token, as it was then |
| \`address\`, \`userAgent\` | \`address\`, \`user_agent\` | from where; empty where it was no request to the server |
| \`requestId\` | \`request_id\` | the request's \`X-Request-Id\` |
| \`isRoutine\` | \`is_routine\` | whether programs do it all the time: users do not see it on their page |
| \`details\` | \`details\` | what differs between events |

## Events

| Event | What happened | \`details\` |
| --- | --- | --- |
`

/** The text of docs/reference/audit.md. */
export const auditReference = () =>
  head +
  Object.entries(auditEvents)
    .map(
      ([name, { sentence, details }]) =>
        `| \`${name}\` | ${sentence} | ${details.map((detail) => `\`${detail}\``).join(', ')} |\n`,
    )
    .join('')
