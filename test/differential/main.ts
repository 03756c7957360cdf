/**
 * Sends the same requests to this server and two other libraries, and writes the outcomes, with the reasons for the
 * differences, to docs/security/differences.md. The reasons are in explanations.json.
 *
 *     npm ci --prefix bench && npm run test:differential
 *
 * Exits with status 1 if a difference has no explanation, or if an explanation belongs to no difference.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { aboutTokenCases } from './about-token-cases.ts'
import { authorizationCases } from './authorization-cases.ts'
import type { Case } from './case.ts'
import explanations from './explanations.json' with { type: 'json' }
import type { Peer } from './peer.ts'
import { startOurs, startPeer } from './peers.ts'
import { type Compared, pageOf } from './table.ts'
import { tokenCases } from './token-cases.ts'

const cases: readonly Case[] = [...authorizationCases, ...tokenCases, ...aboutTokenCases]

const outcomeOf = async ({ needs, run }: Case, peer: Peer): Promise<string | null> => {
  if (needs !== undefined && peer.at[needs] === null) return null
  try {
    return await run(peer)
  } catch (error) {
    return `failed: ${error instanceof Error ? error.message : error}`
  }
}

const reasons: Readonly<Record<string, string>> = explanations
const running = [
  await startOurs(),
  await startPeer('oidc-provider', 'protocol-oidc-provider.ts'),
  await startPeer('@node-oauth/oauth2-server', 'protocol-node-oauth.ts'),
]
try {
  const compared: Compared[] = []
  for (const one of cases) {
    const responses: (string | null)[] = []
    for (const { peer } of running) responses.push(await outcomeOf(one, peer))
    const [ours = null, ...theirs] = responses
    const differs = theirs.some((response) => response !== null && response !== ours)
    const { id, rule, what } = one
    compared.push({ id, rule, what, ours: ours ?? '', theirs, differs, reason: reasons[id] })
  }
  const folder = join(import.meta.dirname, '../../docs/security')
  await mkdir(folder, { recursive: true })
  const names = running.map(({ peer }) => peer.name)
  await writeFile(join(folder, 'differences.md'), pageOf(compared, names))

  const unexplained = compared.filter(({ differs, reason }) => differs && !reason)
  const idle = Object.keys(reasons).filter(
    (id) => !compared.some((one) => one.id === id && one.differs),
  )
  for (const { id, what, ours, theirs } of unexplained)
    console.log(`${id} ${what}: ${ours} | ${theirs.join(' | ')} – has no explanation`)
  for (const id of idle) console.log(`${id} has an explanation, but all responses are equal`)
  const broken = compared.filter(({ ours }) => ours.startsWith('failed: '))
  for (const { id, ours } of broken) console.log(`${id}: ${ours}`)
  const differing = compared.filter(({ differs }) => differs).length
  console.log(`${compared.length} cases, ${differing} differ, ${unexplained.length} unexplained`)
  process.exitCode = unexplained.length + idle.length + broken.length === 0 ? 0 : 1
} finally {
  await Promise.all(running.map(({ stop }) => stop()))
}
