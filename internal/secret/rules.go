package secret

// rules lists the rules; the more they say of a secret, the earlier they stand.
// The forms are those that the services document or hand out; where a length has
// changed over the years the least is taken.
func rules() []rule {
	return append(append(append(append(blocks(), models()...), clouds()...), services()...), generic()...)
}

// blocks are the forms that belong to no service.
func blocks() []rule {
	return []rule{
		{id: "private-key", words: []string{"-----begin "}, find: keyBlock, inside: true},
		{id: "private-key", words: []string{"ls0tls1crudjti"}, form: `LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BPUEVOU1NI|BFTkNSWVBURU)[A-Za-z0-9+/]{16,}={0,2}`},
		{id: "age-key", words: []string{"age-secret-key-1"}, form: `AGE-SECRET-KEY-1[0-9A-Z]{40,}`, value: true},
		{id: "jwt", words: []string{"eyj"}, form: `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`, long: true, brief: true},
		{id: "jwt", words: []string{"zxlk"}, form: `ZXlK[A-Za-z0-9+/_-]{70,}={0,2}`, long: true, brief: true},
		{id: "jwt", words: []string{"eyj"}, form: `eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`, long: true, brief: true},
	}
}

// models are the keys of those who offer models.
func models() []rule {
	return []rule{
		{id: "anthropic-key", words: []string{"sk-ant-"}, form: `sk-ant-[A-Za-z0-9_-]{16,}`},
		{id: "openrouter-key", words: []string{"sk-or-v1-"}, form: `sk-or-v1-[a-f0-9]{32,}`},
		{id: "openai-key", words: []string{"sk-proj-", "sk-svcacct-", "sk-admin-"}, form: `sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}`},
		{id: "sk-key", words: []string{"sk-"}, form: `sk-[A-Za-z0-9_-]{20,}`, bits: 3.3, brief: true},
		{id: "huggingface-token", words: []string{"hf_", "api_org_"}, form: `(?:hf_|api_org_)[A-Za-z0-9]{30,}`, brief: true},
		{id: "groq-key", words: []string{"gsk_"}, form: `gsk_[A-Za-z0-9]{40,}`, brief: true},
		{id: "replicate-token", words: []string{"r8_"}, form: `r8_[A-Za-z0-9]{37,}`, brief: true},
		{id: "perplexity-key", words: []string{"pplx-"}, form: `pplx-[A-Za-z0-9]{40,}`},
		{id: "xai-key", words: []string{"xai-"}, form: `xai-[A-Za-z0-9]{70,}`, brief: true},
		{id: "nvidia-key", words: []string{"nvapi-"}, form: `nvapi-[A-Za-z0-9_-]{50,}`},
		{id: "langsmith-key", words: []string{"lsv2_pt_", "lsv2_sk_"}, form: `lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}`},
		{id: "tavily-key", words: []string{"tvly-"}, form: `tvly-(?:dev-|prod-)?[A-Za-z0-9-]{20,}`},
	}
}

// clouds are the keys of those who offer machines, storage and the tools around
// them.
func clouds() []rule {
	return []rule{
		{id: "aws-access-key", words: []string{"akia", "asia", "abia", "acca"}, form: `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}`, brief: true},
		{id: "aws-secret-key", words: []string{"secret_access_key", "secretaccesskey", "secret-access-key", "aws_secret"}, form: `(?i:secret_?-?access_?-?key|aws_secret(?:_key)?)\W{1,12}([A-Za-z0-9/+]{40})`, inside: true, brief: true},
		{id: "aws-bedrock-key", words: []string{"absk"}, form: `ABSK[A-Za-z0-9+/]{100,}={0,2}`, brief: true},
		{id: "google-api-key", words: []string{"aiza"}, form: `AIza[0-9A-Za-z_-]{35}`},
		{id: "google-oauth-secret", words: []string{"gocspx-"}, form: `GOCSPX-[0-9A-Za-z_-]{20,}`},
		{id: "google-oauth-token", words: []string{"ya29."}, form: `ya29\.[0-9A-Za-z_-]{20,}`},
		{id: "azure-storage-key", words: []string{"accountkey=", "sharedaccesskey="}, form: `(?i:accountkey|sharedaccesskey)=([A-Za-z0-9+/]{40,}={0,2})`, inside: true, brief: true},
		{id: "azure-sas", words: []string{"sig="}, form: `sig=([A-Za-z0-9%+/]{40,}(?:%3D|=))`, brief: true},
		{id: "azure-client-secret", words: []string{"q~"}, back: 4, form: `([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})`, inside: true, brief: true},
		{id: "alibaba-key", words: []string{"ltai"}, form: `LTAI[A-Za-z0-9]{16,}`, brief: true},
		{id: "tencent-key", words: []string{"akid"}, form: `AKID[A-Za-z0-9]{32}`, brief: true},
		{id: "digitalocean-token", words: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, form: `do[opr]_v1_[a-f0-9]{40,}`},
		{id: "heroku-key", words: []string{"hrku-"}, form: `HRKU-[A-Za-z0-9_-]{30,}`},
		{id: "fly-token", words: []string{"fo1_", "fm1a_", "fm1r_", "fm2_"}, form: `(?:fo1_[A-Za-z0-9_-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{80,}={0,2})`, brief: true},
		{id: "cloudflare-key", words: []string{"v1.0-"}, form: `v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}`, brief: true},
		{id: "databricks-token", words: []string{"dapi"}, form: `dapi[a-f0-9]{32}(?:-[0-9])?`, brief: true},
		{id: "vault-token", words: []string{"hvs.", "hvb.", "hvr."}, form: `hv[sbr]\.[A-Za-z0-9_-]{24,}`, brief: true},
		{id: "terraform-token", words: []string{".atlasv1."}, back: 14, form: `([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,})`, inside: true, brief: true},
		{id: "pulumi-token", words: []string{"pul-"}, form: `pul-[a-f0-9]{40}`, brief: true},
		{id: "doppler-token", words: []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa."}, form: `dp\.[a-z]{2}\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{40,}`},
		{id: "planetscale-token", words: []string{"pscale_tkn_", "pscale_oauth_", "pscale_pw_"}, form: `pscale_[a-z]{2,5}_[A-Za-z0-9_.=-]{30,}`},
		{id: "supabase-key", words: []string{"sbp_", "sb_secret_"}, form: `(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})`, brief: true},
		{id: "tailscale-key", words: []string{"tskey-"}, form: `tskey-[a-z]+-[A-Za-z0-9-]{16,}`},
		{id: "dynatrace-token", words: []string{"dt0c01.", "dt0s01.", "dt0s16."}, form: `dt0[a-z][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}`},
		{id: "datadog-key", words: []string{"ddog_"}, form: `ddog_[A-Za-z0-9_-]{20,}`},
		{id: "grafana-token", words: []string{"glc_", "glsa_"}, form: `(?:glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})`, brief: true},
		{id: "grafana-token", words: []string{"eyjrijoi"}, form: `eyJrIjoi[A-Za-z0-9+/_-]{60,}={0,2}`, brief: true},
		{id: "new-relic-key", words: []string{"nrak-", "nrjs-", "nrii-"}, form: `NR(?:AK-[A-Z0-9]{27}|JS-[a-f0-9]{19}|II-[A-Za-z0-9-]{32})`, brief: true},
		{id: "sentry-token", words: []string{"sntrys_", "sntryu_"}, form: `sntry[su]_[A-Za-z0-9+/=_-]{40,}`},
	}
}

// services are the keys of other services, those of developers first.
func services() []rule {
	return []rule{
		{id: "github-token", words: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, form: `gh[pousr]_[A-Za-z0-9]{30,}`, inside: true},
		{id: "github-token", words: []string{"github_pat_"}, form: `github_pat_[A-Za-z0-9_]{22,}`, inside: true},
		{id: "gitlab-token", words: []string{"glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glsoat-", "glagent-", "glimt-", "gloas-", "glffct-"}, form: `gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt|oas|ffct)-[A-Za-z0-9_.-]{16,}`},
		{id: "gitlab-token", words: []string{"gr1348941"}, form: `GR1348941[A-Za-z0-9_-]{20,}`},
		{id: "bitbucket-token", words: []string{"atbb", "atctt3"}, form: `(?:ATBB[A-Za-z0-9]{28,}|ATCTT3[A-Za-z0-9_=-]{100,})`, brief: true},
		{id: "atlassian-token", words: []string{"atatt3"}, form: `ATATT3[A-Za-z0-9_=-]{100,}`},
		{id: "npm-token", words: []string{"npm_"}, form: `npm_[A-Za-z0-9]{36}`, brief: true},
		{id: "npm-token", words: []string{"_authtoken="}, form: `_authToken=["']?([A-Za-z0-9_/+=-]{16,})`, inside: true, brief: true},
		{id: "pypi-token", words: []string{"pypi-age"}, form: `pypi-AgE[A-Za-z0-9_-]{40,}`},
		{id: "rubygems-key", words: []string{"rubygems_"}, form: `rubygems_[a-f0-9]{48}`, brief: true},
		{id: "nuget-key", words: []string{"oy2"}, form: `oy2[a-z0-9]{43}`, brief: true},
		{id: "crates-token", words: []string{"cio"}, form: `cio[A-Za-z0-9]{32}`, bits: 3.5, brief: true},
		{id: "docker-token", words: []string{"dckr_pat_", "dckr_oat_"}, form: `dckr_[po]at_[A-Za-z0-9_-]{20,}`},
		{id: "artifactory-key", words: []string{"akcp"}, form: `AKCp[A-Za-z0-9]{60,}`, brief: true},
		{id: "buildkite-token", words: []string{"bkua_"}, form: `bkua_[a-f0-9]{40}`, brief: true},
		{id: "circleci-token", words: []string{"ccipat_"}, form: `CCIPAT_[A-Za-z0-9]+_[a-f0-9]{40}`},
		{id: "netlify-token", words: []string{"nfp_"}, form: `nfp_[A-Za-z0-9]{36}`, brief: true},
		{id: "sourcegraph-token", words: []string{"sgp_"}, form: `sgp_(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}`, brief: true},
		{id: "postman-key", words: []string{"pmak-"}, form: `PMAK-[a-f0-9]{24}-[a-f0-9]{34}`},
		{id: "linear-key", words: []string{"lin_api_", "lin_oauth_"}, form: `lin_(?:api|oauth)_[A-Za-z0-9]{40,}`},
		{id: "notion-token", words: []string{"ntn_", "secret_"}, form: `(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})`, brief: true},
		{id: "figma-token", words: []string{"figd_"}, form: `figd_[A-Za-z0-9_-]{36,}`, brief: true},
		{id: "airtable-token", words: []string{"pat"}, form: `pat[A-Za-z0-9]{14}\.[a-f0-9]{64}`, brief: true},
		{id: "1password-token", words: []string{"ops_eyj"}, form: `ops_eyJ[A-Za-z0-9+/_-]{80,}={0,2}`},
		{id: "1password-key", words: []string{"a3-"}, form: `A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}`, brief: true},
		{id: "openshift-token", words: []string{"sha256~"}, form: `sha256~[A-Za-z0-9_-]{40,}`},
		{id: "intra42-secret", words: []string{"s-s4t2"}, form: `s-s4t2(?:ud|af)-[a-f0-9]{64}`},
		{id: "sidekiq-secret", words: []string{"contribsys"}, form: `(?i)contribsys(?:__|\.)com[\w"'\]]{0,16}\W{1,5}([a-f0-9]{8}:[a-f0-9]{8})`, inside: true, brief: true},
		{id: "slack-token", words: []string{"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-", "xoxe."}, form: `(?:xox[a-e]\.xox[a-z]|xox[a-z]|xapp)-[A-Za-z0-9%+/=-]{10,}`, bits: 2},
		{id: "slack-webhook", words: []string{"hooks.slack.com/"}, form: `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})`, brief: true},
		{id: "discord-webhook", words: []string{"/api/webhooks/"}, form: `/api/webhooks/[0-9]{10,}/([A-Za-z0-9_-]{50,})`, inside: true, brief: true},
		{id: "teams-webhook", words: []string{".webhook.office.com/webhookb2/"}, form: `\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})`, inside: true, brief: true},
		{id: "telegram-token", words: []string{":aa"}, back: 10, form: `[^:]{0,2}?([0-9]{8,10}:AA[A-Za-z0-9_-]{32,35})`, inside: true, brief: true},
		{id: "stripe-key", words: []string{"sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"}, form: `[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}`},
		{id: "stripe-key", words: []string{"whsec_"}, form: `whsec_[A-Za-z0-9+/=]{20,}`},
		{id: "square-token", words: []string{"sq0atp-", "sq0csp-"}, form: `sq0[a-z]{3}-[A-Za-z0-9_-]{22,}`},
		{id: "braintree-token", words: []string{"access_token$production$"}, form: `access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}`},
		{id: "razorpay-key", words: []string{"rzp_live_", "rzp_test_"}, form: `rzp_(?:live|test)_[A-Za-z0-9]{14,}`},
		{id: "flutterwave-key", words: []string{"flwseck-", "flwseck_test-"}, form: `FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?`},
		{id: "plaid-token", words: []string{"access-production-", "access-sandbox-"}, form: `access-(?:production|sandbox)-[a-f0-9-]{36}`},
		{id: "shopify-token", words: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, form: `shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}`},
		{id: "twilio-key", words: []string{"sk"}, form: `SK[a-f0-9]{32}`, brief: true},
		{id: "sendgrid-key", words: []string{"sg."}, form: `SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,}`, brief: true},
		{id: "mailgun-key", words: []string{"key-"}, form: `key-[a-f0-9]{32}`, brief: true},
		{id: "mailchimp-key", words: []string{"-us"}, back: 32, form: `([a-f0-9]{32}-us[0-9]{1,2})`, inside: true, brief: true},
		{id: "brevo-key", words: []string{"xkeysib-", "xsmtpsib-"}, form: `x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}`},
		{id: "hubspot-token", words: []string{"pat-na", "pat-eu"}, form: `pat-[a-z]{2}[0-9]-[a-f0-9-]{36}`, brief: true},
		{id: "mapbox-token", words: []string{"sk.eyj"}, form: `sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}`},
		{id: "facebook-token", words: []string{"eaa"}, form: `EAA[A-Za-z][A-Za-z0-9]{80,}`, bits: 3.5, brief: true},
		{id: "twitter-token", words: []string{"aaaaaaaaaaaaaaaaaaaaaa"}, form: `A{22}[A-Za-z0-9%]{70,}`, bits: 3.5, brief: true},
		{id: "typeform-token", words: []string{"tfp_"}, form: `tfp_[A-Za-z0-9_.=-]{50,}`, brief: true},
		{id: "prefect-key", words: []string{"pnu_", "pnb_"}, form: `pn[ub]_[A-Za-z0-9]{36}`, brief: true},
		{id: "readme-key", words: []string{"rdme_"}, form: `rdme_[a-z0-9]{60,}`, brief: true},
		{id: "contentful-token", words: []string{"cfpat-"}, form: `CFPAT-[A-Za-z0-9_-]{40,}`},
		{id: "resend-key", words: []string{"re_"}, form: `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}`, brief: true},
		{id: "clojars-token", words: []string{"clojars_"}, form: `CLOJARS_[A-Za-z0-9]{60}`, brief: true},
		{id: "adafruit-key", words: []string{"aio_"}, form: `aio_[A-Za-z0-9]{28}`, brief: true},
		{id: "shippo-token", words: []string{"shippo_live_", "shippo_test_"}, form: `shippo_(?:live|test)_[a-f0-9]{40}`},
		{id: "easypost-key", words: []string{"ezak", "eztk"}, form: `EZ[AT]K[A-Za-z0-9]{54}`, brief: true},
	}
}

// generic are secrets that are known by where they stand.
func generic() []rule {
	return []rule{
		{id: "url-password", words: []string{"://"}, form: `://[^\s/:@"'<>?#\\` + "`" + `]{0,128}:([^\s/"'<>\\` + "`" + `]{1,256})@`, value: true, inside: true, brief: true},
		{id: "url-password", words: []string{"://"}, find: tornAddress, inside: true},
		{id: "url-token", words: []string{"://"}, form: `://([A-Za-z0-9_-]{20,})@`, bits: 3, inside: true, brief: true},
		{id: "authorization", words: []string{"authorization"}, form: `(?i)authorization[\\"'\]]{0,4}[ \t]{0,8}[:=,][ \t]{0,8}[\\"'` + "`" + `]{0,4}(?:bearer|basic|token|negotiate|apikey|bot|hmac|key)[ \t]+(?:token=)?([^\s\\"'` + "`" + `,;<>]{4,})`, value: true, inside: true, brief: true},
		{id: "authorization", words: []string{"authorization"}, form: `(?i)authorization[\\"'\]]{0,4}[ \t]{0,8}[:=,][ \t]{0,8}[\\"'` + "`" + `]{0,4}([a-z0-9._~+/@=-]{16,})`, bits: 3, value: true, inside: true, brief: true},
		{id: "authorization", words: []string{"bearer"}, form: `(?i)bearer[ \t]+([a-z0-9._~+/=-]{16,})`, bits: 3, value: true, brief: true},
		{id: "authorization", words: []string{"basic"}, form: `(?i)basic[ \t]+([a-z0-9+/]{12,}={0,2})`, bits: 3, value: true, brief: true},
		{id: "command-password", words: []string{"-u ", "-u=", "--user"}, form: `--?u(?:ser)?[ =]{1,4}\\?["']?[^\s:"'/<\\]{1,64}:([^\s"'\\:]{0,128}?[^\s"'\\:0-9][^\s"'\\:]{0,128})`, value: true, brief: true},
		{id: "command-password", words: []string{"mysql", "mariadb"}, form: `(?:mysql|mariadb)\w{0,8}(?:-\w{1,8})?[ \t][^|;\n]{0,200}?-p["']?([^\s"'\\]{3,64})`, value: true, brief: true},
		{id: "command-password", words: []string{"sshpass"}, form: `sshpass[ \t]+-p[ \t]*["']?([^\s"'\\]{3,64})`, value: true, brief: true},
		{id: "netrc-password", words: []string{"login "}, form: `login[ \t]+\S{1,64}\s{1,8}password[ \t]+(\S{3,128})`, value: true, brief: true},
		{id: "password", words: []string{"password", "passwd", "passphrase", "passcode", "passwort", "pwd"}, find: password, inside: true},
		{id: "secret", words: []string{"secret", "token", "credential", "creds", "_auth", "-auth", "\"auth"}, find: assignedSecret, inside: true},
		{id: "secret", words: []string{"key"}, find: assignedKey, inside: true},
	}
}
