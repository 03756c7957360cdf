import { afterAll } from 'vitest'
import { readReports, secretNet } from './net.ts'

// vitest loads this module before each test file. It checks that no log entry or error contains a secret.
const net = secretNet()
net.forgetInputs()

const isRefusal = ({ status, headers }: Response): boolean =>
  status >= 400 && /json/.test(headers.get('content-type') ?? '')
const addRefusal = <T>(response: Response, body: T): T => {
  if (isRefusal(response))
    net.addText(`the response ${response.status} of ${pathOf(response)}`, body)
  return body
}
// Test files share a process, so replace the methods of `Response` only once.
const watched = Symbol.for('svc-oauth2server responses are searched for secrets')
if (!(watched in Response.prototype)) {
  const { json, text } = Response.prototype
  Object.assign(Response.prototype, {
    [watched]: true,
    async json(this: Response) {
      return addRefusal(this, await json.call(this))
    },
    async text(this: Response) {
      return addRefusal(this, await text.call(this))
    },
  })
}
const pathOf = ({ url }: Response): string => (URL.canParse(url) ? new URL(url).pathname : url)

afterAll(() => {
  readReports()
  const leaks = net.leaks()
  if (leaks.length > 0)
    throw new Error(`${leaks.length} texts contain secrets:\n${leaks.slice(0, 10).join('\n\n')}`)
})
