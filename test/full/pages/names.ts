import type { Page } from 'playwright-core'

/** Returns the accessible names that several buttons, or several questions before an act, share. */
export const sharedNames = async (page: Page): Promise<readonly string[]> => {
  const found: string[] = []
  for (const kind of ['button', '.danger > summary']) {
    const names = await page
      .locator(`body ${kind}`)
      .evaluateAll((all) =>
        all
          .filter((control) => !control.hidden)
          .map((control) => control.getAttribute('aria-label') ?? control.textContent.trim()),
      )
    const shared = names.filter((name, index) => names.indexOf(name) !== index)
    found.push(...new Set(shared.map((name) => `several controls (${kind}) are named “${name}”`)))
  }
  return found
}
