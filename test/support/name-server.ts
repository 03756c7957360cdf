import { createSocket } from 'node:dgram'

const types = { A: 1, AAAA: 28 } as const
type Family = keyof typeof types
/** The answer for a name: IP addresses, or an error of RFC 1035 §4.1.1. */
type DnsAnswer = readonly string[] | 'SERVFAIL' | 'NXDOMAIN'
const codes = { SERVFAIL: 2, NXDOMAIN: 3 } as const

/** A DNS server on this machine. It does not respond to queries for which no answer was set. */
export interface NameServer {
  /** The IP address and port of this server, in the form that `Resolver.setServers` accepts. */
  readonly address: string
  /** The queries that this server received, such as `A client.example`. */
  readonly asked: ReadonlySet<string>
  /** Sets the answer for a name. */
  respond(name: string, answers: Readonly<Partial<Record<Family, DnsAnswer>>>): void
  [Symbol.asyncDispose](): Promise<void>
}

export const nameServer = async (): Promise<NameServer> => {
  const answers = new Map<string, DnsAnswer>()
  const asked = new Set<string>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { question, bytes } = questionOf(query)
    asked.add(question)
    const answer = answers.get(question)
    if (answer) socket.send(messageWith(query, bytes, answer), port, address)
  })
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    respond(name, given) {
      for (const [type, answer] of Object.entries(given)) answers.set(`${type} ${name}`, answer)
    },
    [Symbol.asyncDispose]: () => new Promise((done) => socket.close(() => done())),
  }
}

/** Parses the question section of a query. RFC 1035 §4.1.2. */
const questionOf = (query: Buffer): { readonly question: string; readonly bytes: Buffer } => {
  const labels: string[] = []
  let at = 12
  while (query[at] !== 0) {
    const end = at + 1 + query.readUInt8(at)
    labels.push(query.toString('latin1', at + 1, end).toLowerCase())
    at = end
  }
  const type = query.readUInt16BE(at + 1) === types.A ? 'A' : 'AAAA'
  return { question: `${type} ${labels.join('.')}`, bytes: query.subarray(12, at + 5) }
}

/** Returns the response message. RFC 1035 §4.1.1 and §4.1.3. */
const messageWith = (query: Buffer, question: Buffer, answer: DnsAnswer): Buffer => {
  const addresses = typeof answer === 'string' ? [] : answer
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? codes[answer] : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  return Buffer.concat([header, question, ...addresses.map(record)])
}

const record = (address: string): Buffer => {
  const isV6 = address.includes(':')
  const data = isV6
    ? Buffer.from(groupsOf(address).join(''), 'hex')
    : Buffer.from(address.split('.').map(Number))
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0) // a pointer to the name in the question
  head.writeUInt16BE(isV6 ? types.AAAA : types.A, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

const groupsOf = (address: string): readonly string[] => {
  const [before = '', behind = ''] = address.split('::')
  const [start, end] = [before, behind].map((half) => half.split(':').filter(Boolean)) as [
    string[],
    string[],
  ]
  const zeros = Array.from({ length: 8 - start.length - end.length }, () => '0')
  return [...start, ...zeros, ...end].map((group) => group.padStart(4, '0'))
}
