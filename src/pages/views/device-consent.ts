import type { PageTemplate } from '../frame.ts'
import { html } from '../html.ts'
import { type AskedConsent, consentCard } from '../parts/consent-card.ts'
import { caution } from '../parts/notices.ts'

/** The view of the consent page for the request of a device. */
export interface DeviceConsentView extends AskedConsent {
  /** The one-time ID of the stored request. The form contains no other part of the request. */
  readonly deviceConfirmation: string
  /** The user code in the format in which the device shows it. */
  readonly userCode: string
}

/** The page on which a user decides what a device may do. */
export const deviceConsentPage: PageTemplate<DeviceConsentView> = (view, frame) => {
  const { device } = frame.texts
  // Show the warning first, because an attacker may have tricked the user into entering the attacker's code (RFC 8628
  // §5.4).
  const before = html`${caution(device.warning)}
<p class="about">${device.shows}</p>
<p class="code" dir="ltr">${view.userCode}</p>
`
  const hidden = { name: 'device_confirmation', value: view.deviceConfirmation }
  return consentCard(view, { hidden, before }, frame)
}
