/** An element of the heap. The heap updates `position`. */
export interface Expiring {
  readonly expiresAt: number
  position: number
}

/**
 * A binary heap with the earliest expiry first. Removing any element takes O(log n), so callers can remove a replaced
 * element before its expiry.
 */
export class ExpiryHeap<Element extends Expiring> {
  readonly #elements: Element[] = []

  /** The element that expires first. */
  get first(): Element | undefined {
    return this.#elements[0]
  }

  add(element: Element): void {
    this.#put(element, this.#elements.length)
    this.#raise(element)
  }

  remove(element: Element): void {
    const last = this.#elements.pop()
    if (!last || last === element) return
    this.#put(last, element.position)
    this.#raise(last)
    this.#lower(last)
  }

  #put(element: Element, position: number): void {
    this.#elements[position] = element
    element.position = position
  }

  /** Moves an element towards the root of the heap until its parent expires first. */
  #raise(element: Element): void {
    for (;;) {
      const parent = this.#elements[(element.position - 1) >> 1]
      if (element.position === 0 || !parent || parent.expiresAt <= element.expiresAt) return
      this.#swap(element, parent)
    }
  }

  /** Moves an element away from the root until it expires before its children. */
  #lower(element: Element): void {
    for (;;) {
      const left = this.#elements[2 * element.position + 1]
      const right = this.#elements[2 * element.position + 2]
      const child = right && left && right.expiresAt < left.expiresAt ? right : left
      if (!child || element.expiresAt <= child.expiresAt) return
      this.#swap(element, child)
    }
  }

  #swap(one: Element, other: Element): void {
    const { position } = one
    this.#put(one, other.position)
    this.#put(other, position)
  }
}
