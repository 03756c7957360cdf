import type { FormProblem } from '../form-problem.ts'
import type { PageTemplate } from '../frame.ts'
import { filled, html } from '../html.ts'
import { layout } from '../layout.ts'
import { csrf, textField } from '../parts/forms.ts'
import { formAlert } from '../parts/notices.ts'

/** The view of the page on which a user enters the code that a device shows. */
export interface DeviceView {
  readonly action: string
  /** The initial value of the field, such as the user code from the URL; may be empty. */
  readonly userCode: string
  readonly problem: FormProblem | undefined
}

/** The view of the page after the decision about a device. */
export interface DeviceDoneView {
  /** The name of the client. */
  readonly client: string
  readonly allowed: boolean
}

/** The page on which a user enters the code that a device shows. */
export const devicePage: PageTemplate<DeviceView> = ({ action, userCode, problem }, frame) => {
  const { device } = frame.texts
  return layout(
    frame,
    device.title,
    html`<div class="card">
<h1>${device.title}</h1>
${formAlert(problem, { user_code: device.code }, frame)}
<p class="about">${device.about}</p>
<form method="post" action="${action}">
${csrf(frame)}
${textField({
  name: 'user_code',
  label: device.code,
  hint: device.codeHint,
  value: userCode,
  attributes: html` class="code" dir="ltr" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus`,
  problem,
})}
<p class="actions"><button type="submit">${device.submit}</button></p>
</form>
</div>`,
    { narrow: true, navigation: false },
  )
}

/** The page after the decision. The user continues on the device. */
export const deviceDonePage: PageTemplate<DeviceDoneView> = ({ client, allowed }, frame) => {
  const { device } = frame.texts
  const name = html`<bdi>${client}</bdi>`
  const title = allowed ? device.allowedTitle : device.refusedTitle
  return layout(
    frame,
    title,
    html`<div class="card">
<h1>${title}</h1>
<p role="status">${filled(allowed ? device.allowed : device.refused, name)}</p>
<p>${allowed ? device.goBack : device.close}</p>
</div>`,
    { narrow: true },
  )
}
