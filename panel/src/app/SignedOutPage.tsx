import { KeyRound } from "lucide-react";
import { useState, type FormEvent } from "react";
import { client } from "@/api/client";
import { connection } from "@/api/connection";
import { queryClient } from "@/api/queryClient";
import { Button } from "@/components/Button";
import { TextField } from "@/components/Fields";
import { ProblemView } from "@/components/States";
import { useT } from "@/i18n";
import styles from "./SignedOutPage.module.css";

/** Shown without a valid cookie: says how to get a link, and takes the token. */
export function SignedOutPage() {
  const { t } = useT();
  const [token, setToken] = useState("");
  const [error, setError] = useState<unknown>(null);

  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await client.POST("/api/v1/sign-in", { body: { token: token.trim() } });
      connection.signedIn();
      queryClient.clear();
    } catch (problem) {
      setError(problem);
    }
  };

  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <KeyRound aria-hidden size={28} strokeWidth={1.5} />
        <h1>{t("signed_out.title")}</h1>
        <p>{t("signed_out.why")}</p>
        <ol className={styles.steps}>
          <li>
            {t("signed_out.link")} <code>treering serve --open</code>
          </li>
          <li>{t("signed_out.or_token")}</li>
        </ol>
        <form onSubmit={(event) => void signIn(event)} className={styles.form}>
          <TextField label={t("signed_out.token")} value={token} onChange={setToken} isRequired />
          <Button type="submit" variant="primary">
            {t("signed_out.sign_in")}
          </Button>
        </form>
        {error !== null && <ProblemView error={error} />}
      </div>
    </main>
  );
}
