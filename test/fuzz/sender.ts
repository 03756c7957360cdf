import { connect, type Socket } from 'node:net'
import { callAfter } from './call-after.ts'
import type { FuzzRequest } from './requests.ts'
import { type Head, ResponseReader } from './responses.ts'

/** The result of a request: a status, or the reason why there was no response. */
export interface Ending {
  /**
   * `closed`: the server closed the connection; `silent`: no response before the timeout; `left`: the client closed the
   * connection; `waiting`: the server waits for the rest of the request.
   */
  readonly status: number | 'closed' | 'silent' | 'left' | 'waiting'
  readonly retryAfter?: string | undefined
  /** Milliseconds until the response, including the time for earlier requests on the same connection. */
  readonly took: number
}

export interface SenderOptions {
  readonly port: number
  readonly make: (number: number) => FuzzRequest
  readonly onEnd: (request: FuzzRequest, ending: Ending) => void
  /** The number of keep-alive connections, and of requests in flight on each (`depth`). */
  readonly connections?: number
  readonly depth?: number
  readonly alone?: number
}

interface Sent {
  readonly request: FuzzRequest
  readonly at: number
}

/** The timeout of a response in milliseconds. */
const timeout = 30_000
const rawTimeout = 3_000

/** Sends requests as fast as the server responds: most over keep-alive connections, some over new connections. */
export class Sender {
  readonly #options: Required<SenderOptions>
  #next = 0
  #last = 0
  #open = 0
  /** Requests to send again, because the connection closed before their response. */
  #again: FuzzRequest[] = []
  #aloneWaiting: FuzzRequest[] = []
  #aloneRunning = 0
  #done: () => void = () => {}

  constructor(options: SenderOptions) {
    this.#options = { connections: 8, depth: 8, alone: 48, ...options }
  }

  /** Sends the requests from number `from` up to, but not including, `to`, and waits for all of them. */
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
    const reader = new ResponseReader(
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
    // Each response restarts the timeout.
    let stopWaiting = (): void => {}
    const wait = (): void => {
      stopWaiting()
      stopWaiting = callAfter(timeout, () => {
        const first = sent.shift()
        if (first) onEnd(first.request, { status: 'silent', took: timeout })
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
      // If the server closed the connection without any response, the first request was the cause.
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

/** Sends a request over a new connection. If several responses arrive, returns the worst one. */
export const sendAlone = (port: number, request: FuzzRequest, limit = timeout): Promise<Ending> =>
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
    const reader = new ResponseReader(
      () => request.isHead,
      (head) => {
        if (!worst || head.status > worst.status) worst = head
      },
    )
    const isRaw = request.kind === 'raw'
    stopWaiting = callAfter(isRaw ? rawTimeout : limit, () =>
      end(worst?.status ?? (isRaw ? 'waiting' : 'silent')),
    )
    socket.on('data', (data: Buffer) => {
      reader.read(data)
      if (worst === undefined || reader.isWithin) return
      const { status } = worst
      if (!isRaw) return end(status)
      // The bytes may contain several requests, so wait for further responses.
      stopWaiting()
      stopWaiting = callAfter(50, () => end(worst?.status ?? status))
    })
    socket.on('error', () => {})
    socket.once('close', () => end(worst?.status ?? 'closed'))
    socket.write(request.bytes, () => {
      if (request.leaves) setImmediate(() => end('left'))
    })
  })
