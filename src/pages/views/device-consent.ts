import type { PageTemplate } from '../frame.ts'
import { filled, html } from '../html.ts'
import { layout } from '../layout.ts'
import { type AskingClient, whoAsks } from '../parts/asking-client.ts'
import { facts } from '../parts/facts.ts'
import { csrf } from '../parts/forms.ts'
import { alert, caution } from '../parts/notices.ts'
import { type AskedScopes, askedScopes } from './consent.ts'

/** What a device asks of a user. */
export interface DeviceConsentView extends AskedScopes {
  readonly action: string
  /** The one-time id of what was found under the code: all that the form carries of it. */
  readonly deviceConfirmation: string
  /** As the device shows it. */
  readonly userCode: string
  readonly client: AskingClient
  /** Who is granting: the e-mail address of the user. */
  readonly user: string
  readonly problem: string | undefined
}

/** The page on which a user decides what a device may do. */
export const deviceConsentPage: PageTemplate<DeviceConsentView> = (view, frame) => {
  const { consent, device } = frame.texts
  const { client, scopes, optionalScopes } = view
  const name = html`<bdi>${client.name}</bdi>`
  return layout(
    frame,
    consent.title(client.name),
    html`<div class="card consent">
<h1>${filled(consent.title, name)}</h1>
${alert(view.problem)}
${caution(device.warning)}
<p class="about">${device.shows}</p>
<p class="code" dir="ltr">${view.userCode}</p>
${whoAsks(client, frame)}
<form method="post" action="${view.action}">
${csrf(frame)}
<input type="hidden" name="device_confirmation" value="${view.deviceConfirmation}">
<p class="asks">${filled(scopes.length === 0 ? consent.nothing : consent.asks, html`<strong>${name}</strong>`)}</p>
${askedScopes(view, frame)}
${optionalScopes.length === 0 ? '' : html`<p class="hint">${consent.optional}</p>`}
<p class="decision">
<button type="submit" name="confirm" value="yes">${consent.accept}</button>
<button type="submit" name="confirm" value="no" class="refuse">${consent.refuse}</button>
</p>
<p class="hint">${consent.lasting}</p>
</form>
${facts([[consent.user, html`<bdi>${view.user}</bdi>`]])}
</div>`,
    { narrow: true, navigation: false },
  )
}
