import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that sends successive requests to different nodes, each over a new connection. */
export interface RoundRobin {
  readonly port: number
  /** Sets the nodes among which requests alternate. */
  forwardTo(ports: readonly number[]): void
  close(): Promise<void>
}

/** Starts the proxy. Until `forwardTo` is called, the proxy closes every connection without a response. */
export const roundRobin = async (): Promise<RoundRobin> => {
  let targets: readonly number[] = []
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const port = targets[turn % targets.length]
    turn += 1
    if (port === undefined) outgoing.destroy()
    else forward(incoming, outgoing, port)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    forwardTo(ports) {
      targets = ports
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const forward = (incoming: IncomingMessage, outgoing: ServerResponse, port: number): void => {
  const { method, url, rawHeaders } = incoming
  const headers = [...without(ofConnection, rawHeaders), 'Connection', 'close']
  const sent = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
  sent.on('response', (response) => {
    const { statusCode = 502, statusMessage } = response
    outgoing.sendDate = false
    outgoing.writeHead(statusCode, statusMessage, without(ofResponse, response.rawHeaders))
    response.on('error', () => outgoing.destroy()).pipe(outgoing)
  })
  // A node may respond before it has read the body, and close the connection. Forward this response all the same.
  sent.on('error', () => {
    if (!outgoing.headersSent) outgoing.destroy()
  })
  incoming.pipe(sent)
}

// Hop-by-hop headers apply to one connection only.
const ofConnection = /^(?:connection|keep-alive)$/i
const ofResponse = /^(?:connection|keep-alive|transfer-encoding)$/i

const without = (names: RegExp, rawHeaders: readonly string[]): string[] =>
  rawHeaders.flatMap((name, index) => {
    const value = rawHeaders[index + 1]
    return index % 2 === 0 && !names.test(name) && value !== undefined ? [name, value] : []
  })
