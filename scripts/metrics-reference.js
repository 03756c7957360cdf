import { instruments } from '../src/server/telemetry/instruments.ts'

const head = `# Metrics and spans

<!-- Written by \`npm run reference\` from src/server/telemetry/instruments.ts and scripts/metrics-reference.js. Do not edit it by hand. -->

The metrics and spans of the server. [Logs, metrics and traces](../how-to/observability.md) describes how to collect them. A
name follows the OpenTelemetry conventions if they define one. The changelog lists every change of a name.

The values of each attribute are fixed: no request can add a value. No attribute contains a secret.

## Metrics

The scope (\`otel.scope.name\`) is \`svc-oauth2server\`.
`

const foot = `
At \`/metrics\`, an attribute is a label with \`_\` in place of \`.\`, such as \`oauth2server_outcome\`.

## Spans

| Span | Kind | Attributes |
| --- | --- | --- |
| Method and pattern of the address, such as \`POST /oauth/token\` | server; internal if the application has a parent span | \`http.request.method\`, \`http.route\`, \`http.response.status_code\`, and \`error.type\` for a status of 5xx |
| \`oauth2server.token_lookup\`: the look-up of a bearer token, also for guards of the application, if it has a parent span | internal | none |
`

/** @param {string} name */
const underscored = (name) => name.replaceAll('.', '_')

/** @param {import('../src/server/telemetry/instruments.ts').Instrument} instrument */
const inPrometheus = ({ name, kind }) =>
  ({
    counter: [`${underscored(name)}_total`],
    gauge: [underscored(name)],
    histogram: ['bucket', 'sum', 'count'].map((part) => `${underscored(name)}_${part}`),
  })[kind]

/** @param {readonly string[]} texts */
const codes = (texts) => texts.map((text) => `\`${text}\``).join(', ')

/** @param {import('../src/server/telemetry/instruments.ts').Instrument} instrument */
const section = (instrument) => {
  const { name, kind, unit, sentence, boundaries } = instrument
  const attributes = Object.entries(instrument.attributes)
  return `
### ${name}

${sentence}

- A ${kind}, in \`${unit}\`${boundaries ? `, with buckets up to ${boundaries.join(', ')}` : ''}.
- At \`/metrics\`: ${codes(inPrometheus(instrument))}.
${attributes.map(([attribute, meaning]) => `- \`${attribute}\`: ${meaning}.\n`).join('')}`
}

/** Returns the text of docs/reference/metrics.md. */
export const metricsReference = () =>
  [head, ...Object.values(instruments).map(section), foot].join('')
