import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that sends each request to another node, over a connection of its own. */
export interface RoundRobin {
  readonly port: number
  /** Where requests go from now on, in turn. */
  leadTo(ports: readonly number[]): void
  close(): Promise<void>
}

/** Begins to listen; until it knows nodes, requests are cut off. */
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
    leadTo(ports) {
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
  sent.on('response', (answer) => {
    const { statusCode = 502, statusMessage } = answer
    outgoing.sendDate = false
    outgoing.writeHead(statusCode, statusMessage, without(ofAnswer, answer.rawHeaders))
    answer.on('error', () => outgoing.destroy()).pipe(outgoing)
  })
  // A node that refuses may close while the rest of the body is on its way: what it said counts.
  sent.on('error', () => {
    if (!outgoing.headersSent) outgoing.destroy()
  })
  incoming.pipe(sent)
}

// What is said of one connection is not for the other.
const ofConnection = /^(?:connection|keep-alive)$/i
const ofAnswer = /^(?:connection|keep-alive|transfer-encoding)$/i

const without = (names: RegExp, rawHeaders: readonly string[]): string[] =>
  rawHeaders.flatMap((name, index) => {
    const value = rawHeaders[index + 1]
    return index % 2 === 0 && !names.test(name) && value !== undefined ? [name, value] : []
  })
