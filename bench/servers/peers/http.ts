// Shared HTTP helpers for peers that do not include a server.
import type { IncomingMessage, ServerResponse } from 'node:http'

export const textOf = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => resolve(text))
    request.on('error', reject)
  })

export const formOf = async (request: IncomingMessage): Promise<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(await textOf(request)))

export const answer = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

export const notes = { notes: [] } as const

/** Returns the bearer token of a request. */
export const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  headers.authorization?.startsWith('Bearer ') ? headers.authorization.slice(7) : undefined
