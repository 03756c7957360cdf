import { emailScope, Scope } from './scope.ts'

/** The scope with which a client learns who the user is. OpenID Connect Core §3.1.2.1. */
export const openidScope = new Scope('openid', {
  helpText: 'Know who you are',
  access: 'read',
  group: 'User',
  translations: inGroup({
    ar: 'معرفة هويتك',
    de: 'Wissen, wer du bist',
    es: 'Saber quién eres',
    fr: 'Savoir qui vous êtes',
    it: 'Sapere chi sei',
    ja: 'あなたが誰であるかの確認',
    pl: 'Informacja o tym, kim jesteś',
    pt: 'Saber quem você é',
    zh: '了解你的身份',
  }),
})

/** The scope of refresh tokens that remain valid after the user logs out. OpenID Connect Core §11. */
export const offlineAccessScope = new Scope('offline_access', {
  helpText: 'Keep access after you log out',
  group: 'User',
  translations: inGroup({
    ar: 'الاحتفاظ بالوصول بعد تسجيل خروجك',
    de: 'Zugriff behalten, nachdem du dich abgemeldet hast',
    es: 'Conservar el acceso después de que cierres la sesión',
    fr: 'Conserver l’accès après votre déconnexion',
    it: 'Mantenere l’accesso dopo la tua disconnessione',
    ja: 'ログアウト後のアクセスの継続',
    pl: 'Zachowanie dostępu po Twoim wylogowaniu',
    pt: 'Manter o acesso depois que você sair',
    zh: '在你退出登录后保留访问权限',
  }),
})

/** The scopes that OpenID Connect defines. Core §5.4, §11. */
export const openidScopes: readonly Scope[] = [
  openidScope,
  new Scope('profile', {
    helpText: 'Read your profile, such as your name and picture',
    access: 'read',
    group: 'User',
    translations: inGroup({
      ar: 'قراءة ملفك الشخصي، مثل اسمك وصورتك',
      de: 'Dein Profil lesen, zum Beispiel Name und Bild',
      es: 'Leer tu perfil, como tu nombre y tu foto',
      fr: 'Lire votre profil, comme votre nom et votre photo',
      it: 'Leggere il tuo profilo, come nome e foto',
      ja: '名前や写真などのプロフィールの読み取り',
      pl: 'Odczyt Twojego profilu, na przykład imienia i zdjęcia',
      pt: 'Ler seu perfil, como nome e foto',
      zh: '读取你的个人资料，例如姓名和头像',
    }),
  }),
  new Scope('email', {
    // The scope `user:email` permits the same data outside of a login, so the texts must differ.
    helpText: 'Read your e-mail address when you log in',
    access: 'read',
    group: emailScope.group,
    translations: inGroup({
      ar: 'قراءة عنوان بريدك الإلكتروني عند تسجيل دخولك',
      de: 'Deine E-Mail-Adresse lesen, wenn du dich anmeldest',
      es: 'Leer tu dirección de correo electrónico cuando inicias sesión',
      fr: 'Lire votre adresse e-mail quand vous vous connectez',
      it: 'Leggere il tuo indirizzo e-mail quando accedi',
      ja: 'ログイン時のメールアドレスの読み取り',
      pl: 'Odczyt Twojego adresu e-mail podczas logowania',
      pt: 'Ler seu endereço de e-mail quando você faz login',
      zh: '在你登录时读取你的电子邮件地址',
    }),
  }),
  new Scope('address', {
    helpText: 'Read your postal address',
    access: 'read',
    group: 'User',
    translations: inGroup({
      ar: 'قراءة عنوانك البريدي',
      de: 'Deine Postanschrift lesen',
      es: 'Leer tu dirección postal',
      fr: 'Lire votre adresse postale',
      it: 'Leggere il tuo indirizzo postale',
      ja: '住所の読み取り',
      pl: 'Odczyt Twojego adresu pocztowego',
      pt: 'Ler seu endereço postal',
      zh: '读取你的邮寄地址',
    }),
  }),
  new Scope('phone', {
    helpText: 'Read your phone number',
    access: 'read',
    group: 'User',
    translations: inGroup({
      ar: 'قراءة رقم هاتفك',
      de: 'Deine Telefonnummer lesen',
      es: 'Leer tu número de teléfono',
      fr: 'Lire votre numéro de téléphone',
      it: 'Leggere il tuo numero di telefono',
      ja: '電話番号の読み取り',
      pl: 'Odczyt Twojego numeru telefonu',
      pt: 'Ler seu número de telefone',
      zh: '读取你的电话号码',
    }),
  }),
  offlineAccessScope,
]

/**
 * Removes the scopes of OpenID Connect that are not in `kept`. These scopes have no effect in a personal token, because
 * no client uses a personal token to log in a user.
 */
export const withoutOpenidScopes = (
  scopes: readonly Scope[],
  kept: readonly string[] = [],
): readonly Scope[] =>
  scopes.filter((scope) => !openidScopes.includes(scope) || kept.includes(scope.id))

/** Adds the heading of the scope `user:email` in the same language to each text. */
function inGroup(helpTexts: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(helpTexts).map(([language, helpText]) => [
      language,
      { helpText, group: emailScope.textsFor(language).group },
    ]),
  )
}
