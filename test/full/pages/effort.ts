import { expect } from 'vitest'
import type { InputDevice } from './hands.ts'
import type { Person } from './site.ts'
import type { Way } from './ways.ts'

/** Counts the actions of a task (presses and typed texts), the keys of the keyboard, and the time since the start. */
export interface Effort {
  readonly hands: InputDevice
  /**
   * Prints the effort, and checks it.
   * @param allowed the number of actions, and the maximum number of keys other than the characters of typed texts
   */
  report(task: string, allowed: { readonly actions: number; readonly keys: number }): void
}

/** Counts what a person does from now on. */
export const counting = ({ page, press, type, typeDay, choose }: Person, way: Way): Effort => {
  let actions = 0
  let keys = 0
  const start = performance.now()
  const { keyboard } = page
  const pressKey = keyboard.press.bind(keyboard)
  keyboard.press = async (...given) => {
    keys += 1
    await pressKey(...given)
  }
  const counted =
    <Given extends unknown[]>(act: (...given: Given) => Promise<void>) =>
    async (...given: Given): Promise<void> => {
      actions += 1
      await act(...given)
    }
  return {
    hands: {
      press: counted(press),
      type: counted(type),
      typeDay: counted(typeDay),
      choose: counted(choose),
    },
    report(task, allowed) {
      const seconds = ((performance.now() - start) / 1000).toFixed(1)
      console.info(`${task}, ${way.name}: ${actions} actions, ${keys} keys, ${seconds} s`)
      expect(actions, task).toBe(allowed.actions)
      expect(keys, task).toBeLessThanOrEqual(
        way.name === 'with the keyboard only' ? allowed.keys : 0,
      )
    },
  }
}
