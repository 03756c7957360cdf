import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** The source of axe, minified because every page parses it. `axe.source` is more than twice as long. */
const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** All rules, including the rule of WCAG 2.2 AA that axe omits by default. */
const everything = { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] }

/** Rules that depend on colours. */
const colours = {
  runOnly: ['color-contrast', 'link-in-text-block'],
  resultTypes: ['violations'],
}

/**
 * Opens all collapsed elements of a page. Returns the rule and the element of each violation that axe finds in light or
 * dark mode.
 */
export const violations = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(source)
  await page.locator('details').evaluateAll((all) => {
    for (const details of all) details.open = true
  })
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await found(page, everything)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await found(page, colours)
  return [...light, ...dark.map((text) => `in the dark: ${text}`)]
}

const found = async (page: Page, options: object): Promise<readonly string[]> => {
  const run = `axe.run(${JSON.stringify(options)})`
  const { violations } = (await page.evaluate(run)) as AxeResults
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}
