import type { LogEntry } from 'svc-oauth2server'
import { type Node, startNode } from './nodes.ts'
import { roundRobin } from './round-robin.ts'
import type { Front } from './server.ts'

/** The maximum lifetime of a node in milliseconds, which exceeds the duration of any test file. */
const lifetime = 600_000

/** Creates three node processes behind a proxy, which sends successive requests to different processes. */
export const threeNodes = async (secretKey: string): Promise<Front> => {
  const proxy = await roundRobin()
  let nodes: readonly Node[] = []
  return {
    port: proxy.port,
    further: 0,
    async open([server], options, { folder: data, env }) {
      const given = { SECRET_KEY: secretKey, TEST_OPTIONS: JSON.stringify(options) }
      const issuer = server?.issuer ?? ''
      const cluster = { data, issuer, env: { ...env, ...given }, lifetime }
      nodes = await Promise.all([1, 2, 3].map(() => startNode(cluster)))
      proxy.forwardTo(nodes.map(({ port }) => port))
    },
    log: () => nodes.flatMap(({ program }) => entriesIn(program.stderr)),
    async close() {
      await proxy.close()
      await Promise.all(nodes.map(({ program }) => program.crash()))
    },
  }
}

const entriesIn = (stderr: string): readonly LogEntry[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogEntry)
