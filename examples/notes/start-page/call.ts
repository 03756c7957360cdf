import type { Request } from 'express'

/** The response to a call. */
export interface Answer {
  readonly status: number
  /** The body, formatted for people if it is JSON. */
  readonly text: string
}

/** Sends a request to this program over HTTP, as any other program would. */
export type Call = (path: string, init?: RequestInit) => Promise<Answer>

/**
 * Returns a function that calls this program. The function uses the address at which the request arrived, because the
 * public URL may be the URL of a proxy that this machine cannot reach.
 */
export const callTo = ({ socket }: Request, basePath: string): Call => {
  const { localAddress = '127.0.0.1', localPort } = socket
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  return async (path, init) => {
    const response = await fetch(`http://${host}:${localPort}${basePath}${path}`, {
      ...init,
      signal: AbortSignal.timeout(10_000),
    })
    return { status: response.status, text: formatted(await response.text()) }
  }
}

/** Returns the headers of a call with a token. */
export const withToken = (token: string): RequestInit => ({
  headers: { authorization: `Bearer ${token}` },
})

// Writes each item of a list on one line, because the page shows several answers side by side.
const formatted = (text: string): string => {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.length > 0
      ? `[\n${value.map((item) => `  ${JSON.stringify(item)}`).join(',\n')}\n]`
      : JSON.stringify(value, null, 2)
  } catch {
    return text
  }
}
