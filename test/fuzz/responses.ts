/** The status and headers of a response. */
export interface Head {
  readonly status: number
  readonly retryAfter: string | undefined
}

const nothing = Buffer.alloc(0)
const blank = Buffer.from('\r\n\r\n')

/** Parses pipelined responses of a connection, and skips their bodies. */
export class ResponseReader {
  readonly #isHead: () => boolean
  readonly #onResponse: (head: Head) => void
  #rest: Buffer = nothing
  #head: Head | undefined
  /**
   * The bytes of the current body that are still missing; with chunked encoding, of the current chunk and its line end.
   */
  #left = 0
  #isChunked = false

  /** @param isHead returns whether the next response is for a HEAD request */
  constructor(isHead: () => boolean, onResponse: (head: Head) => void) {
    this.#isHead = isHead
    this.#onResponse = onResponse
  }

  /** Whether a response has begun but not ended. */
  get isWithin(): boolean {
    return this.#head !== undefined || this.#rest.length > 0
  }

  read(data: Buffer): void {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    while (this.#step());
  }

  /** Parses the next part. @returns whether enough bytes were available */
  #step(): boolean {
    if (this.#left > 0) {
      const taken = Math.min(this.#left, this.#rest.length)
      if (taken === 0) return false
      this.#rest = this.#rest.subarray(taken)
      this.#left -= taken
      if (this.#left === 0 && !this.#isChunked) this.#end()
      return true
    }
    return this.#head ? this.#chunk() : this.#begin()
  }

  #begin(): boolean {
    const end = this.#rest.indexOf(blank)
    if (end < 0) return false
    const text = this.#rest.toString('latin1', 0, end)
    this.#rest = this.#rest.subarray(end + 4)
    const status = Number(text.slice(9, 12))
    if (status < 200) return true
    this.#head = { status, retryAfter: /\r\nretry-after: *([^\r]*)/i.exec(text)?.[1] }
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(text)
    if (this.#isHead() || status === 204 || status === 304) {
      this.#isChunked = false
      this.#end()
    } else if (!this.#isChunked) {
      this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0)
      if (this.#left === 0) this.#end()
    }
    return true
  }

  #chunk(): boolean {
    const end = this.#rest.indexOf('\r\n')
    if (end < 0) return false
    const size = Number.parseInt(this.#rest.toString('latin1', 0, end), 16)
    if (size === 0) {
      if (this.#rest.length < end + 4) return false
      this.#rest = this.#rest.subarray(end + 4)
      this.#end()
      return true
    }
    this.#rest = this.#rest.subarray(end + 2)
    this.#left = size + 2
    return true
  }

  #end(): void {
    const head = this.#head as Head
    this.#head = undefined
    this.#onResponse(head)
  }
}
