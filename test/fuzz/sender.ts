import { connect, type Socket } from 'node:net'
import { AnswerReader, type Head } from './answers.ts'
import { afterWaiting } from './patience.ts'
import type { FuzzRequest } from './requests.ts'

/** How a request ended: with a status, or with none. */
export interface Ending {
  /** `closed`: the server did; `silent`: no answer in time; `left`: we went away; `waiting`: it waits for more. */
  readonly status: number | 'closed' | 'silent' | 'left' | 'waiting'
  readonly retryAfter?: string | undefined
  /** Milliseconds; of a request behind others on its connection, with theirs. */
  readonly took: number
}

export interface SenderOptions {
  readonly port: number
  readonly make: (number: number) => FuzzRequest
  readonly onEnd: (request: FuzzRequest, ending: Ending) => void
  /** Connections that are kept, and how many requests are under way on each. */
  readonly connections?: number
  readonly depth?: number
  readonly alone?: number
}

interface Sent {
  readonly request: FuzzRequest
  readonly at: number
}

/** Milliseconds. */
const patience = 30_000
const rawPatience = 3_000

/** Sends requests as fast as they are answered: many over each kept connection, some over one of their own. */
export class Sender {
  readonly #options: Required<SenderOptions>
  #next = 0
  #last = 0
  #open = 0
  /** Sent already, on a connection that ended before their turn. */
  #again: FuzzRequest[] = []
  #aloneWaiting: FuzzRequest[] = []
  #aloneRunning = 0
  #done: () => void = () => {}

  constructor(options: SenderOptions) {
    this.#options = { connections: 8, depth: 8, alone: 48, ...options }
  }

  /** Sends requests number `from` up to, and without, `to`, and waits for every one to end. */
  send(from: number, to: number): Promise<void> {
    this.#next = from
    this.#last = to
    const { connections, depth } = this.#options
    return new Promise((done) => {
      this.#done = done
      this.#open = connections
      for (let count = 0; count < connections; count += 1) this.#keep(depth)
    })
  }

  #take(): FuzzRequest | undefined {
    for (;;) {
      const again = this.#again.pop()
      if (again) return again
      if (this.#next >= this.#last) return undefined
      const request = this.#options.make(this.#next)
      this.#next += 1
      if (!request.isAlone) return request
      this.#aloneWaiting.push(request)
      this.#startAlone()
    }
  }

  #keep(depth: number): void {
    const { port, onEnd } = this.#options
    const sent: Sent[] = []
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const reader = new AnswerReader(
      () => sent[0]?.request.isHead ?? false,
      (head) => {
        const first = sent.shift()
        if (!first) return
        hasAnswered = true
        onEnd(first.request, { ...head, took: performance.now() - first.at })
      },
    )
    let hasAnswered = false
    const fill = (): void => {
      const written: Buffer[] = []
      while (sent.length < depth) {
        const request = this.#take()
        if (!request) break
        sent.push({ request, at: performance.now() })
        written.push(request.bytes)
      }
      if (written.length > 0) socket.write(Buffer.concat(written))
      else if (sent.length === 0) socket.end()
    }
    // Begins anew with each answer.
    let stopWaiting = (): void => {}
    const wait = (): void => {
      stopWaiting()
      stopWaiting = afterWaiting(patience, () => {
        const first = sent.shift()
        if (first) onEnd(first.request, { status: 'silent', took: patience })
        hasAnswered = true
        socket.destroy()
      })
    }
    wait()
    socket.once('connect', fill)
    socket.on('data', (data: Buffer) => {
      reader.read(data)
      wait()
      fill()
    })
    socket.on('error', () => {})
    socket.once('close', () => {
      stopWaiting()
      // Whose turn it was when the connection ended: by itself, not behind an answer that ends it.
      const first = hasAnswered ? undefined : sent.shift()
      if (first) onEnd(first.request, { status: 'closed', took: performance.now() - first.at })
      this.#again.push(...sent.map(({ request }) => request))
      if (this.#again.length > 0 || this.#next < this.#last) return this.#keep(depth)
      this.#open -= 1
      this.#settle()
    })
  }

  #settle(): void {
    if (this.#open === 0 && this.#aloneRunning === 0 && this.#aloneWaiting.length === 0)
      this.#done()
  }

  #startAlone(): void {
    while (this.#aloneRunning < this.#options.alone) {
      const request = this.#aloneWaiting.shift()
      if (!request) return
      this.#aloneRunning += 1
      void sendAlone(this.#options.port, request).then((ending) => {
        this.#options.onEnd(request, ending)
        this.#aloneRunning -= 1
        this.#startAlone()
        this.#settle()
      })
    }
  }
}

/** Sends a request over a connection of its own. The worst of its answers counts. */
export const sendAlone = (port: number, request: FuzzRequest, limit = patience): Promise<Ending> =>
  new Promise((resolve) => {
    const began = performance.now()
    let worst: Head | undefined
    let stopWaiting = (): void => {}
    const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const end = (status: Ending['status']): void => {
      stopWaiting()
      socket.destroy()
      resolve({ status, retryAfter: worst?.retryAfter, took: performance.now() - began })
    }
    const reader = new AnswerReader(
      () => request.isHead,
      (head) => {
        if (!worst || head.status > worst.status) worst = head
      },
    )
    const isRaw = request.kind === 'raw'
    stopWaiting = afterWaiting(isRaw ? rawPatience : limit, () =>
      end(worst?.status ?? (isRaw ? 'waiting' : 'silent')),
    )
    socket.on('data', (data: Buffer) => {
      reader.read(data)
      if (worst === undefined || reader.isWithin) return
      const { status } = worst
      if (!isRaw) return end(status)
      // More may come: of requests behind each other, or smuggled ones.
      stopWaiting()
      stopWaiting = afterWaiting(50, () => end(worst?.status ?? status))
    })
    socket.on('error', () => {})
    socket.once('close', () => end(worst?.status ?? 'closed'))
    socket.write(request.bytes, () => {
      if (request.leaves) setImmediate(() => end('left'))
    })
  })
