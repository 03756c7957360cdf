// GitHub's secret scanning partner programme, which reports credentials that were found in public places

import { verify } from 'node:crypto'
import { z } from 'zod'
import type { HttpRequest } from '../../http/request.ts'
import type { LeakReport } from '../../model/leak-report.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { p256Key } from '../../model/p256-key.ts'
import { strictJson } from '../../model/strict-json.ts'
import { text } from '../../pages/shapes/shape.ts'
import { jsonResponse } from '../endpoints/responses/responses.ts'
import { endCredential } from '../leaked/end-credential.ts'
import { findCredential, wasOurs } from '../leaked/find-credential.ts'
import { otherError } from '../openapi/operations.ts'
import { namedResponse, responseOf } from '../openapi/responses.ts'
import { text as anyText, named } from '../openapi/schema.ts'
import type { Extension } from '../plug-ins.ts'
import type { Configuration, Environment, ServerContext } from '../server-context.ts'

/** The maximum number of credentials in one report. */
const maxItems = 250
/** The number of credentials for which an unsigned report counts once towards its limit. */
const itemsPerReport = 25
/** Milliseconds for which a repeated report returns the same result. */
const resultLifetime = 86_400_000

const optionalText = z.string().nullish()
const items = z.array(
  z.object({ token: z.string(), type: z.string(), url: optionalText, source: optionalText }),
)
type Item = z.output<typeof items>[number]

// The characters of this server's credentials. Texts with other characters need no database look-up.
const credentialSyntax = /^[A-Za-z0-9._-]+$/

const itemsIn = (text: string): readonly Item[] => {
  const refused = (sentence: string) => new OAuthError('invalid_request', sentence)
  try {
    const { success, data = [] } = items.safeParse(strictJson(text))
    if (!success)
      throw refused('A report must be a JSON array of objects with the strings token and type.')
    if (data.length > maxItems)
      throw refused(`A report must not contain more than ${maxItems} credentials.`)
    return data
  } catch (error) {
    throw error instanceof SyntaxError ? refused(error.message) : error
  }
}

const isSigned = (http: HttpRequest, text: string, { settings }: Configuration): boolean => {
  const id = http.header('github-public-key-identifier') ?? ''
  const signature = http.header('github-public-key-signature')
  const given = Object.entries(settings.leakReportKeys).find(([name]) => name === id)?.[1]
  const key = given && p256Key(given)
  if (!key || signature === null) return false
  const bytes = Buffer.from(signature, 'base64')
  // Accept only the canonical base64 encoding (RFC 4648 §3.5).
  if (bytes.toString('base64') !== signature) return false
  return verify('sha256', Buffer.from(text), key, bytes)
}

/**
 * Checks that a known key signed the report, or that the settings accept the unsigned report.
 * @returns whether the report is signed
 * @throws OAuthError
 */
const checkSender = async (
  http: HttpRequest,
  text: string,
  server: ServerContext,
): Promise<boolean> => {
  if (isSigned(http, text, server)) return true
  await server.limits.consume('unsignedLeakReports', http.address)
  const claims = ['github-public-key-identifier', 'github-public-key-signature']
  const isPlain = claims.every((name) => http.header(name) === null)
  if (isPlain && server.settings.acceptUnsignedLeakReports) return false
  throw new OAuthError('access_denied', 'The report is not signed with a known key.')
}

/** Revokes a reported credential. Returns whether this server issued the credential, also for a repeated report. */
const revokeReported = async (
  { token, url, source }: Item,
  server: ServerContext,
): Promise<boolean> => {
  if (!credentialSyntax.test(token)) return false
  const reported = server.transientValues<true>('leaked_credential')
  const found = await findCredential(token, server)
  if (!found) return (await reported.get(token)) ?? wasOurs(token, server)
  // Read the hidden client of a personal token before the token is deleted.
  const hidden = found.tokenId === null ? undefined : await server.tokens.get(found.tokenId)
  const isEndedNow = await endCredential(found, server)
  await reported.set(token, true, server.clock() + resultLifetime)
  // A token that could not be restored any more has no owner to notify.
  const isGone = found.kind === 'personal_token' && found.tokenId === null
  if (!isEndedNow || isGone) return true
  const { kind, name, userId, tokenId } = found
  const clientId = found.clientId ?? hidden?.clientId ?? ''
  const redacted = (text: string | null | undefined) => (text ?? '').replaceAll(token, '…')
  const where = { url: redacted(url), source: redacted(source) }
  notifyOwner({ kind, clientId, name, userId, tokenId, ...where }, server)
  return true
}

const notifyOwner = (
  report: LeakReport,
  { hostHooks: { onLeaked }, log }: Pick<ServerContext, 'hostHooks'> & Environment,
): void => {
  const { kind, clientId, userId, tokenId } = report
  log({
    level: 'warn',
    event: 'credential.leaked',
    message: 'A secret scanner found a credential in a public place. The credential is revoked.',
    kind,
    clientId,
    userId,
    tokenId,
  })
  // Do not await the application's hook, because a slow or failing hook must not affect the response to the reporter.
  Promise.resolve()
    .then(() => onLeaked?.(report))
    .catch((error: unknown) =>
      log({
        level: 'error',
        event: 'leak_hook.failed',
        message: 'onLeaked failed. The credential is revoked nevertheless.',
        error,
      }),
    )
}

/** Accepts reports of secret scanners and revokes the reported credentials. */
export const leakReports: Extension = {
  name: 'leak-reports',
  isOn: ({ leakReportKeys, acceptUnsignedLeakReports }) =>
    acceptUnsignedLeakReports || Object.keys(leakReportKeys).length > 0,
  endpoints: [
    {
      path: ({ oauthPrefix }) => `${oauthPrefix}/leaked`,
      methods: ['POST'],
      errors: 'json',
      async handle(http, server) {
        const text = await http.jsonText()
        const isTrusted = await checkSender(http, text, server)
        const found = itemsIn(text)
        // Anyone can send an unsigned report, and each credential costs several look-ups.
        const more = isTrusted ? 0 : Math.ceil(found.length / itemsPerReport) - 1
        for (let count = 0; count < more; count += 1)
          await server.limits.consume('unsignedLeakReports', http.address)
        // A report may contain a value several times. Process each value once.
        const verdicts = new Map<string, boolean>()
        for (const item of found) {
          if (!verdicts.has(item.token))
            verdicts.set(item.token, await revokeReported(item, server))
        }
        return jsonResponse(
          found.map(({ token, type }) => ({
            token_raw: token,
            token_type: type,
            label: verdicts.get(token) ? 'true_positive' : 'false_positive',
          })),
        )
      },
      describe: () => ({
        post: {
          operationId: 'reportLeaked',
          summary: 'Revokes credentials that a secret scanner found',
          tags: ['protocol'],
          security: [],
          parameters: ['Github-Public-Key-Identifier', 'Github-Public-Key-Signature'].map(
            (name) => ({ name, in: 'header', schema: anyText }),
          ),
          requestBody: { required: true, content: { 'application/json': { schema: items } } },
          responses: {
            200: responseOf(
              'The verdict on each reported item, in the order of the report.',
              z.array(
                z.strictObject({
                  token_raw: text,
                  token_type: text,
                  label: z.enum(['true_positive', 'false_positive']),
                }),
              ),
            ),
            400: responseOf('A parameter is missing or not valid.', named('Problem')),
            403: responseOf('The report is not signed with a known key.', named('Problem')),
            413: namedResponse('TooLarge'),
            503: namedResponse('Unavailable'),
            default: otherError,
          },
        },
      }),
    },
  ],
}
